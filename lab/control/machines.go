package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"sigs.k8s.io/yaml"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/rack"
)

// Machines is what a user can do to existing machines, which no platform created.
type Machines interface {
	// Add adds the machines that the lab does not have yet, and returns their names.
	Add(machines []rack.Machine) ([]string, error)
	PowerOn(name string) error
	PowerOff(name string) error
	// Replace replaces a machine by another one, and returns the new identity.
	Replace(ctx context.Context, name string, by rack.Identity) (rack.Identity, error)
}

// The actions, by their names in the API.
const (
	actionOn      = "on"
	actionOff     = "off"
	actionReplace = "replace"
)

func (a *API) addMachines(w http.ResponseWriter, r *http.Request) {
	body, ok := content(w, r)
	if !ok {
		return
	}
	var machines []rack.Machine
	err := yaml.UnmarshalStrict(body, &machines)
	var names []string
	if err == nil {
		names, err = a.Machines.Add(machines)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	answer(w, http.StatusCreated, names)
}

func (a *API) machine(w http.ResponseWriter, r *http.Request) {
	body, ok := content(w, r)
	if !ok {
		return
	}
	name := r.PathValue("name")
	var done any = map[string]string{}
	var err error
	switch action := r.PathValue("action"); action {
	case actionOn:
		err = a.Machines.PowerOn(name)
	case actionOff:
		err = a.Machines.PowerOff(name)
	case actionReplace:
		var by rack.Identity
		if err = yaml.UnmarshalStrict(body, &by); err == nil {
			done, err = a.Machines.Replace(r.Context(), name, by)
		}
	default:
		err = fmt.Errorf("a machine has no action %q: there are %s, %s and %s", action, actionOn, actionOff, actionReplace)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	answer(w, http.StatusOK, done)
}

// AddMachines adds the machines of a list, in JSON or YAML, that the lab does not have yet, and returns their names.
func (c *Client) AddMachines(ctx context.Context, list []byte) ([]string, error) {
	var names []string
	err := c.ask(ctx, http.MethodPost, "/machines", "application/yaml", list, &names)
	return names, err
}

// PowerOn turns a machine on.
func (c *Client) PowerOn(ctx context.Context, name string) error {
	return c.act(ctx, name, actionOn, struct{}{}, nil)
}

// PowerOff cuts a machine's power.
func (c *Client) PowerOff(ctx context.Context, name string) error {
	return c.act(ctx, name, actionOff, struct{}{}, nil)
}

// Replace replaces a machine by another one, and returns the new identity.
func (c *Client) Replace(ctx context.Context, name string, by rack.Identity) (rack.Identity, error) {
	var answer rack.Identity
	err := c.act(ctx, name, actionReplace, by, &answer)
	return answer, err
}

func (c *Client) act(ctx context.Context, name, action string, body, into any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPost, "/machines/"+url.PathEscape(name)+"/"+action, "application/json", content, into)
}
