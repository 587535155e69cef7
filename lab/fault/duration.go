package fault

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is written as in "1m30s".
type Duration time.Duration

// MarshalJSON writes it as text.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%s is no duration such as \"1m30s\"", data)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is no duration such as \"1m30s\"", text)
	}
	*d = Duration(parsed)
	return nil
}
