package kubernetes

import (
	_ "embed"
	"strings"
)

// kubeletFlags has the kubelet's flags, one in a line, from cmd/kubelet/app/options of
// Kubernetes 1.36 and the options of its logs.
//
//go:embed kubeletFlags.txt
var kubeletFlags string

// unknownFlag returns the first argument of a kubelet that is none of its flags, by its name.
func unknownFlag(args []string) (string, bool) {
	known := map[string]bool{}
	for _, flag := range strings.Fields(kubeletFlags) {
		known[flag] = true
	}
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !known[name] {
			return name, true
		}
	}
	return "", false
}
