package container

import (
	"regexp"
	"strings"
)

// reference is $(NAME), or $$(NAME) which stands for the text $(NAME).
var reference = regexp.MustCompile(`\$?\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)`)

// Expand puts the environment into a command's words as Kubernetes does: what
// names no variable stays as it is.
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
