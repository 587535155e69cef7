package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Client calls the control API of a lab.
type Client struct {
	http *http.Client
}

// NewClient returns a client that connects with dial.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client {
	return &Client{http: &http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableKeepAlives: true,
	}}}
}

// Status returns the state of the lab, as JSON.
func (c *Client) Status(ctx context.Context) (json.RawMessage, error) {
	var status json.RawMessage
	err := c.ask(ctx, http.MethodGet, "/status", "", nil, &status)
	return status, err
}

// Kubeconfig returns that of the first cluster, for programs on the host.
func (c *Client) Kubeconfig(ctx context.Context) ([]byte, error) {
	response, err := c.send(ctx, http.MethodGet, "/kubeconfig", "", nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}

// Timeline calls the function for each fact after the given number and, with follow, for each new fact until the context or the lab ends.
func (c *Client) Timeline(ctx context.Context, after int, follow bool, each func(timeline.Fact) error) error {
	query := url.Values{"after": {strconv.Itoa(after)}, "follow": {strconv.FormatBool(follow)}}
	response, err := c.send(ctx, http.MethodGet, "/timeline?"+query.Encode(), "", nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := json.NewDecoder(response.Body)
	for {
		var fact timeline.Fact
		err := lines.Decode(&fact)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case follow && errors.Is(err, io.ErrUnexpectedEOF):
			return nil // the lab ended
		case err != nil:
			return fmt.Errorf("read the timeline: %w", err)
		}
		if err := each(fact); err != nil {
			return err
		}
	}
}

// Faults lists the planned and the armed faults.
func (c *Client) Faults(ctx context.Context) ([]scenario.Listed, error) {
	var listed []scenario.Listed
	err := c.ask(ctx, http.MethodGet, "/faults", "", nil, &listed)
	return listed, err
}

// AddFaults arms the faults of a scenario and returns their ids. The name is for messages.
func (c *Client) AddFaults(ctx context.Context, file string, content []byte) ([]string, error) {
	var answer added
	err := c.ask(ctx, http.MethodPost, "/faults?"+url.Values{"file": {file}}.Encode(), "application/yaml", content, &answer)
	return answer.IDs, err
}

// RemoveFault ends a fault.
func (c *Client) RemoveFault(ctx context.Context, id string) error {
	return c.ask(ctx, http.MethodDelete, "/faults/"+url.PathEscape(id), "", nil, nil)
}

// RemoveFaults ends all of them.
func (c *Client) RemoveFaults(ctx context.Context) error {
	return c.ask(ctx, http.MethodDelete, "/faults", "", nil, nil)
}

// Down starts to end the lab.
func (c *Client) Down(ctx context.Context) error {
	return c.ask(ctx, http.MethodPost, "/down", "", nil, nil)
}

// ask sends a request and decodes the answer, unless the target is nil.
func (c *Client) ask(ctx context.Context, method, path, kind string, body []byte, into any) error {
	response, err := c.send(ctx, method, path, kind, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("read the lab's answer to %s %s: %w", method, path, err)
	}
	return nil
}

// send sends a request; a refusal is an error.
func (c *Client) send(ctx context.Context, method, path, kind string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the lab: %w", err)
	}
	if response.StatusCode < http.StatusBadRequest {
		return response, nil
	}
	defer response.Body.Close()
	var refused refusal
	if err := json.NewDecoder(response.Body).Decode(&refused); err != nil || refused.Error == "" {
		return nil, fmt.Errorf("the lab answered %s %s with %s", method, path, response.Status)
	}
	return nil, errors.New(refused.Error)
}
