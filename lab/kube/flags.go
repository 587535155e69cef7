package kube

import (
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// rewriting is what the lab changes in the command of a static pod, so that several control planes run on one machine. Everything else stays as Talos
// rendered it.
type rewriting struct {
	// paths are folders in the container with where they are here.
	paths map[string]string
	// set are flags whose values the lab replaces.
	set map[string]string
}

// apply returns the program and its flags.
func (r rewriting) apply(command []string) (program string, args []string) {
	if len(command) == 0 {
		return "", nil
	}
	for _, arg := range command[1:] {
		name, value, hasValue := strings.Cut(arg, "=")
		if _, ours := r.set[strings.TrimLeft(name, "-")]; ours {
			continue
		}
		if hasValue {
			arg = name + "=" + r.relocate(value)
		}
		args = append(args, arg)
	}
	for _, name := range slices.Sorted(maps.Keys(r.set)) {
		args = append(args, "--"+name+"="+r.set[name])
	}
	return path.Base(command[0]), args
}

// relocate moves every path below one of the folders.
func (r rewriting) relocate(text string) string {
	// The longest first, as one folder can be in another.
	folders := slices.SortedFunc(maps.Keys(r.paths), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, folder := range folders {
		pairs = append(pairs, folder+"/", r.paths[folder]+"/")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// expand fills $(NAME) in a command from the container's environment, as a
// kubelet does; podIP is what the downward API says.
func expand(container corev1.Container, podIP string) (command, env []string) {
	var pairs []string
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil && from.FieldRef != nil && from.FieldRef.FieldPath == "status.podIP" {
			value = podIP
		}
		env = append(env, variable.Name+"="+strings.ReplaceAll(value, "$$", "$"))
		pairs = append(pairs, "$("+variable.Name+")", value)
	}
	fill := strings.NewReplacer(append([]string{"$$", "$"}, pairs...)...)
	for _, word := range slices.Concat(container.Command, container.Args) {
		command = append(command, fill.Replace(word))
	}
	return command, env
}
