package proxmox

import (
	"context"
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

// params are those of a request, from its query and its body.
type params map[string]string

type paramsKey struct{}

func withParams(ctx context.Context, given params) context.Context {
	return context.WithValue(ctx, paramsKey{}, given)
}

func paramsOf(ctx context.Context) params {
	given, _ := ctx.Value(paramsKey{}).(params)
	return given
}

// maxBody is more than any request that the API takes here.
const maxBody = 1 << 20

// readParams reads a form or JSON.
func readParams(r *http.Request) (params, error) {
	given := params{}
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

// required is a parameter that must be there.
func (p params) required(name string) (string, error) {
	value, given := p[name]
	if !given {
		return "", invalid(name, "property is missing and it is not optional")
	}
	return value, nil
}

// flag is a boolean as the API takes it.
func (p params) flag(name string) bool { return isTrue(p[name]) }

func isTrue(text string) bool {
	return slices.Contains([]string{"1", "on", "yes", "true"}, strings.ToLower(text))
}

// number is an integer, or another one without it.
func (p params) number(name string, otherwise int) (int, error) {
	text, given := p[name]
	if !given {
		return otherwise, nil
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		return 0, invalid(name, "type check ('integer') failed - got '%s'", text)
	}
	return value, nil
}

// list splits a list as the API takes it.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
}

// properties is a value such as "virtio=BC:24:11:00:00:01,bridge=vmbr0", whose
// first part may be without a key.
type properties map[string]string

// parseProperties reads one; what has no key belongs to the default key.
func parseProperties(text, defaultKey string) properties {
	found := properties{}
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

// print writes it as the API does: the value of the default key alone, then the
// others by name.
func (p properties) print(defaultKey string) string {
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

// plain is a value that may be written in base 64.
func (p properties) plain(key string) string {
	if text, err := base64.StdEncoding.DecodeString(p[key]); p["base64"] == "1" && err == nil {
		return string(text)
	}
	return p[key]
}
