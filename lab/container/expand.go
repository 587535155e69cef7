package container

import (
	"regexp"
	"strings"
)

// reference is $(NAME), or $$(NAME), which means the text $(NAME).
var reference = regexp.MustCompile(`\$?\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)`)

// Expand replaces references to variables in a command's words as Kubernetes does: references to unknown variables are left unchanged.
func Expand(words []string, env map[string]string) []string {
	expanded := make([]string, len(words))
	for i, word := range words {
		expanded[i] = expand(word, env)
	}
	return expanded
}

func expand(text string, env map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if escaped, is := strings.CutPrefix(found, "$$"); is {
			return "$" + escaped
		}
		if value, is := env[found[2:len(found)-1]]; is {
			return value
		}
		return found
	})
}
