package talosapi

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	v1alpha1runtime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

// rebootRulesFile is the list with which Sluice predicts reboots. CanApplyImmediate is
// the same in Talos 1.12 and 1.13, so testing the lab's version covers both.
const rebootRulesFile = "../../components/talos/config/rebootRules.json"

// rebootRules are the paths that Talos applies without a reboot, and the blocks
// of which it compares single fields only where both configs have the block.
type rebootRules struct {
	Immediate       []string `json:"immediate"`
	ComparedAsBlock []string `json:"comparedAsBlock"`
}

func readRebootRules(t *testing.T) rebootRules {
	t.Helper()
	data, err := os.ReadFile(rebootRulesFile)
	require.NoError(t, err)
	var rules rebootRules
	require.NoError(t, json.Unmarshal(data, &rules))
	return rules
}

func (r rebootRules) isImmediate(path string) bool {
	return slices.ContainsFunc(r.Immediate, func(one string) bool { return isAtOrBelow(path, one) })
}

func isAtOrBelow(path, ancestor string) bool {
	return path == ancestor || strings.HasPrefix(path, ancestor+".")
}

// stateWithConfig is the state of a machine that has only a config.
type stateWithConfig struct {
	runtime.State
	runtime.V1Alpha2State
	config config.Provider
}

func (s stateWithConfig) V1Alpha2() runtime.V1Alpha2State                    { return s }
func (s stateWithConfig) GetConfig(context.Context) (config.Provider, error) { return s.config, nil }

// talosReboots asks Talos' own code whether a change needs a reboot.
func talosReboots(before, after *v1alpha1.Config) bool {
	state := stateWithConfig{config: container.NewV1Alpha1(before)}
	return v1alpha1runtime.NewRuntime(state, nil, nil).CanApplyImmediate(container.NewV1Alpha1(after)) != nil
}

// configField is a field of the config: a block of other fields or a value.
type configField struct {
	path  string
	index []int
	block bool
}

// configFields returns all fields, at any depth, that can be written in a config.
func configFields(of reflect.Type, path string, index []int) []configField {
	var found []configField
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		at := append(slices.Clone(index), i)
		inner := blockType(field.Type)
		switch {
		case options == "inline" && inner != nil:
			found = append(found, configFields(inner, path, at)...)
			continue
		case options == "inline":
			name = path
		case name == "" || name == "-":
			continue
		case path != "":
			name = path + "." + name
		}
		found = append(found, configField{path: name, index: at, block: inner != nil})
		if inner != nil {
			found = append(found, configFields(inner, name, at)...)
		}
	}
	return found
}

// blockType returns the struct that a field holds, or nil for a value.
func blockType(of reflect.Type) reflect.Type {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for i := range of.NumField() {
		if of.Field(i).Tag.Get("yaml") != "" {
			return of
		}
	}
	return nil
}

// configWith returns a config that has all blocks, but no values.
func configWith(blocks []configField) *v1alpha1.Config {
	made := &v1alpha1.Config{}
	for _, block := range blocks {
		if at := fieldOf(made, block); at.Kind() == reflect.Pointer {
			at.Set(reflect.New(at.Type().Elem()))
		}
	}
	return made
}

func fieldOf(of *v1alpha1.Config, field configField) reflect.Value {
	return reflect.ValueOf(of).Elem().FieldByIndex(field.index)
}

// setValue gives a field, which has none, a value.
func setValue(t *testing.T, field configField, at reflect.Value) {
	t.Helper()
	switch at.Kind() {
	case reflect.String:
		at.SetString("changed")
	case reflect.Bool:
		at.SetBool(true)
	case reflect.Int, reflect.Int64:
		at.SetInt(1)
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		at.SetUint(1)
	case reflect.Pointer:
		at.Set(reflect.New(at.Type().Elem()))
	case reflect.Slice:
		at.Set(reflect.MakeSlice(at.Type(), 1, 1))
	case reflect.Map:
		at.Set(reflect.MakeMapWithSize(at.Type(), 1))
		at.SetMapIndex(reflect.Zero(at.Type().Key()), reflect.Zero(at.Type().Elem()))
	case reflect.Struct:
		for i := range at.NumField() {
			if at.Field(i).CanSet() {
				setValue(t, field, at.Field(i))
				return
			}
		}
		t.Fatalf("%s: no field of %s can be set", field.path, at.Type())
	default:
		t.Fatalf("%s: no value for a field of type %s", field.path, at.Type())
	}
}

func TestTalosRebootsForExactlyTheFieldsThatSluicePredicts(t *testing.T) {
	rules := readRebootRules(t)
	fields := configFields(reflect.TypeFor[v1alpha1.Config](), "", nil)
	blocks := slices.DeleteFunc(slices.Clone(fields), func(field configField) bool { return !field.block })
	require.False(t, talosReboots(configWith(blocks), configWith(blocks)), "no change needs no reboot")
	require.Greater(t, len(fields), 150, "not all fields of the config were found")

	for _, field := range fields {
		if field.block {
			continue
		}
		changed := configWith(blocks)
		setValue(t, field, fieldOf(changed, field))
		assert.Equal(t, !rules.isImmediate(field.path), talosReboots(configWith(blocks), changed), "a reboot for %s", field.path)
	}
	for _, path := range rules.Immediate {
		known := slices.ContainsFunc(fields, func(field configField) bool { return field.path == path })
		assert.True(t, known, "the config has no field %s", path)
	}
}

func TestTalosRebootsForExactlyTheBlocksThatSluicePredictsWhenTheyAreAddedOrRemoved(t *testing.T) {
	rules := readRebootRules(t)
	fields := configFields(reflect.TypeFor[v1alpha1.Config](), "", nil)
	blocks := slices.DeleteFunc(slices.Clone(fields), func(field configField) bool { return !field.block })

	for _, block := range blocks {
		without := configWith(blocks)
		if at := fieldOf(without, block); at.Kind() == reflect.Pointer {
			at.SetZero()
		} else {
			continue // it is always there
		}
		// Where no field below is immediate, the fields that come or go need a reboot by themselves.
		mixed := slices.ContainsFunc(rules.Immediate, func(path string) bool { return path != block.path && isAtOrBelow(path, block.path) })
		predicted := !rules.isImmediate(block.path)
		if mixed {
			predicted = slices.Contains(rules.ComparedAsBlock, block.path)
		}
		assert.Equal(t, predicted, talosReboots(without, configWith(blocks)), "a reboot where %s is added", block.path)
		assert.Equal(t, predicted, talosReboots(configWith(blocks), without), "a reboot where %s is removed", block.path)
	}
	for _, path := range rules.ComparedAsBlock {
		known := slices.ContainsFunc(blocks, func(block configField) bool { return block.path == path })
		assert.True(t, known, "the config has no block %s", path)
	}
}
