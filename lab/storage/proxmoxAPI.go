package storage

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// proxmoxAPI is a client of a Proxmox cluster's API, with a token.
type proxmoxAPI struct {
	endpoint, token string
	client          *http.Client
}

// proxmoxTimeout is the timeout of a call.
const proxmoxTimeout = 30 * time.Second

func newProxmoxAPI(endpoint, token string, insecure bool) *proxmoxAPI {
	return &proxmoxAPI{
		endpoint: strings.TrimSuffix(endpoint, "/"), token: token,
		client: &http.Client{Timeout: proxmoxTimeout, Transport: &http.Transport{
			// As configured, because hosts have self-signed certificates.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: insecure},
			// Each run of the driver has its own connections.
			IdleConnTimeout: proxmoxTimeout,
		}},
	}
}

// call requests a path and reads the data of the answer, unless into is nil.
func (a *proxmoxAPI) call(ctx context.Context, method, path string, form url.Values, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, a.endpoint+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "PVEAPIToken="+a.token)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answered, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer answered.Body.Close()
	if answered.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, answered.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(answered.Body).Decode(&struct {
		Data any `json:"data"`
	}{into})
}

// taskInterval is the interval between two polls of a task: Proxmox sends no notifications.
const taskInterval = 100 * time.Millisecond

// task starts a task, and returns when it has succeeded.
func (a *proxmoxAPI) task(ctx context.Context, method, path string) error {
	var upid string
	if err := a.call(ctx, method, path, nil, &upid); err != nil {
		return err
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(upid, "UPID:"), ":")
	ticker := time.NewTicker(taskInterval)
	defer ticker.Stop()
	for {
		var its struct {
			Status string `json:"status"`
			Exit   string `json:"exitstatus"`
		}
		if err := a.call(ctx, http.MethodGet, "/nodes/"+host+"/tasks/"+url.PathEscape(upid)+"/status", nil, &its); err != nil {
			return err
		}
		switch {
		case its.Status == "running":
		case its.Exit != "OK":
			return fmt.Errorf("%s %s: %s", method, path, its.Exit)
		default:
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
