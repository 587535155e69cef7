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

// Machines are those that no cloud has: what a person's hand does to them.
type Machines interface {
	// Add puts in those that are not there, and says which.
	Add(machines []rack.Machine) ([]string, error)
	PowerOn(name string) error
	PowerOff(name string) error
	// Replace puts another machine into the place of one, and says which.
	Replace(ctx context.Context, name string, by rack.Identity) (rack.Identity, error)
}

// The actions, as they are called in the API.
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
		err = fmt.Errorf("a machine cannot be told to %q: there are %s, %s and %s", action, actionOn, actionOff, actionReplace)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	answer(w, http.StatusOK, done)
}

// AddMachines puts in those of a list, in JSON or YAML, that are not there, and
// says which.
func (c *Client) AddMachines(ctx context.Context, list []byte) ([]string, error) {
	var names []string
	err := c.ask(ctx, http.MethodPost, "/machines", "application/yaml", list, &names)
	return names, err
}

// PowerOn presses the button of a machine.
func (c *Client) PowerOn(ctx context.Context, name string) error {
	return c.tell(ctx, name, actionOn, struct{}{}, nil)
}

// PowerOff pulls the plug of a machine.
func (c *Client) PowerOff(ctx context.Context, name string) error {
	return c.tell(ctx, name, actionOff, struct{}{}, nil)
}

// Replace puts another machine into the place of one, and says which.
func (c *Client) Replace(ctx context.Context, name string, by rack.Identity) (rack.Identity, error) {
	var answer rack.Identity
	err := c.tell(ctx, name, actionReplace, by, &answer)
	return answer, err
}

func (c *Client) tell(ctx context.Context, name, action string, body, into any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPost, "/machines/"+url.PathEscape(name)+"/"+action, "application/json", content, into)
}
