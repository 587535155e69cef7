// Package api is the HTTP layer of the Proxmox VE API: calls, parameters, answers, errors, and the privileges that a caller needs.
package api

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Prefix is that of every path of the API.
const Prefix = "/api2/json"

// Call is a request whose caller is known.
type Call struct {
	*http.Request
	Params Params
	Caller Caller
}

// Caller is the user of a call.
type Caller interface {
	// Name is "user@realm", or "user@realm!token".
	Name() string
	// User is "user@realm".
	User() string
	// May reports whether the caller has a privilege on a path.
	May(path, privilege string) bool
}

// Handler answers a call with data.
type Handler func(*Call) (any, error)

// Routes are handlers by pattern, such as "GET /nodes/{node}/status".
type Routes map[string]Handler

// All returns an error if the caller does not have all of the privileges on a path.
func (r *Call) All(path string, wanted ...string) error {
	for _, one := range wanted {
		if !r.Caller.May(path, one) {
			return forbidden(path, wanted)
		}
	}
	return nil
}

// Some returns an error if the caller has none of the privileges on a path.
func (r *Call) Some(path string, wanted ...string) error {
	for _, one := range wanted {
		if r.Caller.May(path, one) {
			return nil
		}
	}
	return forbidden(path, wanted)
}

// OnVM returns an error if the caller does not have all of the privileges on a virtual machine. Those on its pool count too; an empty pool means none.
func (r *Call) OnVM(id int, pool string, wanted ...string) error {
	path := VMPath(id)
	for _, one := range wanted {
		if !r.Caller.May(path, one) && (pool == "" || !r.Caller.May("/pool/"+pool, one)) {
			return forbidden(path, wanted)
		}
	}
	return nil
}

// VMPath returns the path of a virtual machine in access control lists.
func VMPath(id int) string { return "/vms/" + strconv.Itoa(id) }

// Digest identifies the content of a configuration.
func Digest(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Respond answers with its own words in the status line, which clients show to their users. Only an answer that is written by hand can have them.
func Respond(w http.ResponseWriter, status int, message string, body any) {
	if status == http.StatusOK {
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
		return
	}
	text, err := json.Marshal(body)
	hijacker, can := w.(http.Hijacker)
	if err != nil || !can {
		http.Error(w, message, status)
		return
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		http.Error(w, message, status)
		return
	}
	defer conn.Close()
	line, _, _ := strings.Cut(message, "\n")
	var whole bytes.Buffer
	fmt.Fprintf(&whole, "HTTP/1.1 %d %s\r\nContent-Type: application/json;charset=UTF-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", status, line, len(text))
	whole.Write(text)
	_, _ = conn.Write(whole.Bytes()) // as above
}
