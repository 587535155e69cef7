package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Params are the parameters of a request, from its query and its body.
type Params map[string]string

// maxBody is larger than any request that the API accepts here.
const maxBody = 1 << 20

// ReadParams reads a form or JSON.
func ReadParams(r *http.Request) (Params, error) {
	given := Params{}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "application/json" {
		var body map[string]any
		decoder := json.NewDecoder(io.LimitReader(r.Body, maxBody))
		decoder.UseNumber()
		if err := decoder.Decode(&body); err != nil && err != io.EOF {
			return nil, fmt.Errorf("malformed JSON: %w", err)
		}
		for key, value := range body {
			given[key] = jsonText(value)
		}
	}
	r.Body = http.MaxBytesReader(nil, r.Body, maxBody)
	// A DELETE has its parameters in the query; ParseForm reads only what it knows.
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	for key, values := range r.Form {
		given[key] = strings.Join(values, ",")
	}
	return given, nil
}

func jsonText(value any) string {
	switch value := value.(type) {
	case bool:
		if value {
			return "1"
		}
		return "0"
	case []any:
		texts := make([]string, 0, len(value))
		for _, one := range value {
			texts = append(texts, jsonText(one))
		}
		return strings.Join(texts, ",")
	case nil:
		return ""
	default:
		return fmt.Sprint(value)
	}
}

// Required returns a parameter that must be given.
func (p Params) Required(name string) (string, error) {
	value, given := p[name]
	if !given {
		return "", Invalid(name, "property is missing and it is not optional")
	}
	return value, nil
}

// Flag returns a boolean in the API's notation.
func (p Params) Flag(name string) bool { return IsTrue(p[name]) }

// IsTrue parses a boolean in the API's notation.
func IsTrue(text string) bool {
	return slices.Contains([]string{"1", "on", "yes", "true"}, strings.ToLower(text))
}

// Number returns an integer, or a default if the parameter is not given.
func (p Params) Number(name string, otherwise int) (int, error) {
	text, given := p[name]
	if !given {
		return otherwise, nil
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		return 0, Invalid(name, "type check ('integer') failed - got '%s'", text)
	}
	return value, nil
}

// List splits a list in the API's notation.
func List(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
}

// Properties are a value such as "virtio=BC:24:11:00:00:01,bridge=vmbr0", whose first part may have no key.
type Properties map[string]string

// ParseProperties parses them; a part without a key belongs to the default key.
func ParseProperties(text, defaultKey string) Properties {
	found := Properties{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, keyed := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case keyed:
			found[key] = value
		case key != "":
			found[defaultKey] = key
		}
	}
	return found
}

// Print writes them in the API's notation: the value of the default key first and without its key, then the others by name.
func (p Properties) Print(defaultKey string) string {
	var parts []string
	if value, has := p[defaultKey]; has {
		parts = append(parts, value)
	}
	for _, key := range slices.Sorted(maps.Keys(p)) {
		if key != defaultKey {
			parts = append(parts, key+"="+p[key])
		}
	}
	return strings.Join(parts, ",")
}

// Plain returns a value that may be written in base 64.
func (p Properties) Plain(key string) string {
	if text, err := base64.StdEncoding.DecodeString(p[key]); p["base64"] == "1" && err == nil {
		return string(text)
	}
	return p[key]
}
