// Package control is the API of the lab itself: its state, its timeline, and its faults.
package control

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// largest is the maximum size of a request.
const largest = 1 << 20

// API is what the control API shows and does.
type API struct {
	Plan     *scenario.Plan
	Timeline *timeline.Timeline
	// Status is shown as JSON.
	Status func() any
	// Down starts to end the lab and returns.
	Down func()
	// Kubeconfig is that of the first cluster, for programs on the host.
	Kubeconfig func() ([]byte, error)
	// Leases are those that the lab's DHCP servers have assigned.
	Leases func() []dhcp.Lease
	// Machines are the existing machines, which no platform created.
	Machines Machines
}

// Handler serves the API to every client that reaches the lab.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", a.status)
	mux.HandleFunc("GET /timeline", a.timeline)
	mux.HandleFunc("GET /faults", a.faults)
	mux.HandleFunc("POST /faults", a.addFaults)
	mux.HandleFunc("DELETE /faults", a.removeFaults)
	mux.HandleFunc("DELETE /faults/{id}", a.removeFault)
	mux.HandleFunc("GET /kubeconfig", a.kubeconfig)
	mux.HandleFunc("GET /leases", a.leases)
	mux.HandleFunc("POST /machines", a.addMachines)
	mux.HandleFunc("POST /machines/{name}/{action}", a.machine)
	return mux
}

// OwnerHandler serves the API to the lab's owner, who may also end it.
func (a *API) OwnerHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", a.Handler())
	mux.HandleFunc("POST /down", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		a.Down()
	})
	return mux
}

func (a *API) status(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, a.Status())
}

func (a *API) kubeconfig(w http.ResponseWriter, _ *http.Request) {
	kubeconfig, err := a.Kubeconfig()
	if err != nil {
		refuse(w, http.StatusNotFound, err)
		return
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(kubeconfig) // the caller may have disconnected
}

// leases lists the DHCP leases, as the page of a router does; with the parameter mac only the lease of that MAC.
func (a *API) leases(w http.ResponseWriter, r *http.Request) {
	leases := a.Leases()
	if asked := r.URL.Query().Get("mac"); asked != "" {
		mac, err := net.ParseMAC(asked)
		if err != nil {
			refuse(w, http.StatusBadRequest, fmt.Errorf("mac: %q is not a MAC address", asked))
			return
		}
		leases = slices.DeleteFunc(leases, func(lease dhcp.Lease) bool { return lease.MAC != mac.String() })
	}
	answer(w, http.StatusOK, leases)
}

// timeline returns facts as lines of JSON: those after a number and, with follow, new ones too.
func (a *API) timeline(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	after, err := number(query.Get("after"))
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("after: %w", err))
		return
	}
	follow, err := yes(query.Get("follow"))
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("follow: %w", err))
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	flush := http.NewResponseController(w)
	for {
		facts, more := a.Timeline.After(after)
		for _, fact := range facts {
			if lines.Encode(fact) != nil {
				return
			}
			after = fact.Seq
		}
		if flush.Flush() != nil || !follow {
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}

func (a *API) faults(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, a.Plan.List())
}

// addFaults accepts one fault or a list of them, in JSON or YAML.
func (a *API) addFaults(w http.ResponseWriter, r *http.Request) {
	body, ok := content(w, r)
	if !ok {
		return
	}
	file := r.URL.Query().Get("file")
	if file == "" {
		file = "request"
	}
	entries, err := scenario.Parse(file, body)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	ids, err := a.Plan.Add(entries...)
	if err != nil {
		refuse(w, http.StatusConflict, err)
		return
	}
	answer(w, http.StatusCreated, added{IDs: ids})
}

// content returns the body of a request, in JSON or YAML; anything else is refused.
func content(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	// A page in a browser cannot send these types to another origin without asking first.
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && kind != "application/yaml" {
		refuse(w, http.StatusUnsupportedMediaType, fmt.Errorf("the Content-Type must be application/json or application/yaml, it is %q", r.Header.Get("Content-Type")))
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return nil, false
	}
	return body, true
}

func (a *API) removeFault(w http.ResponseWriter, r *http.Request) {
	if err := a.Plan.Remove(r.PathValue("id")); err != nil {
		refuse(w, http.StatusNotFound, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *API) removeFaults(w http.ResponseWriter, _ *http.Request) {
	for _, listed := range a.Plan.List() {
		// If it is spent or was removed meanwhile, it is gone as well.
		_ = a.Plan.Remove(listed.ID)
	}
	w.WriteHeader(http.StatusNoContent)
}

// added is the answer to new faults.
type added struct {
	IDs []string `json:"ids"`
}

// refusal is the answer to an impossible request.
type refusal struct {
	Error string `json:"error"`
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The caller may have disconnected.
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, err error) {
	answer(w, status, refusal{Error: err.Error()})
}

func number(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	found, err := strconv.Atoi(text)
	if err != nil || found < 0 {
		return 0, fmt.Errorf("%q is not the number of a fact", text)
	}
	return found, nil
}

func yes(text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	found, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
	return found, nil
}
