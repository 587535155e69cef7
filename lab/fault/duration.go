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
	parsed, err := parse(data)
	if err != nil || parsed < 0 {
		return fmt.Errorf("%s is not a duration such as \"1m30s\"", data)
	}
	*d = Duration(parsed)
	return nil
}

// Offset is a Duration that may be negative, as in "-1h".
type Offset time.Duration

// MarshalJSON writes it as text.
func (o Offset) MarshalJSON() ([]byte, error) { return Duration(o).MarshalJSON() }

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Offset) UnmarshalJSON(data []byte) error {
	parsed, err := parse(data)
	if err != nil {
		return fmt.Errorf("%s is no offset such as \"-1h\"", data)
	}
	*o = Offset(parsed)
	return nil
}

func parse(data []byte) (time.Duration, error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return 0, err
	}
	return time.ParseDuration(text)
}
