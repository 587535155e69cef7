package factory

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/blang/semver/v4"
)

var schematicID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ParseInstaller reads a reference to an installer image: of the factory, as in
// "host/metal-installer/<schematic>:v1.13.8", or the stock one, as in
// "host/siderolabs/installer:v1.13.8", whose schematic is the default. The
// version comes back without its v.
func ParseInstaller(reference string) (version, schematic string, err error) {
	// A digest pins the image and contains nothing about its content.
	name, _, _ := strings.Cut(reference, "@")
	colon := strings.LastIndex(name, ":")
	if colon < strings.LastIndex(name, "/") || colon < 0 {
		return "", "", fmt.Errorf("installer image %q: has no tag to say the version of Talos", reference)
	}
	name, tag := name[:colon], name[colon+1:]
	parsed, err := semver.ParseTolerant(tag)
	if err != nil || !strings.HasPrefix(tag, "v") {
		return "", "", fmt.Errorf("installer image %q: tag %q is no version of Talos such as v1.13.8", reference, tag)
	}
	path := strings.Split(name, "/")
	last := path[len(path)-1]
	switch {
	case len(path) >= 2 && schematicID.MatchString(last) && isInstaller(path[len(path)-2]):
		return parsed.String(), last, nil
	case last == "installer":
		return parsed.String(), DefaultSchematic, nil
	default:
		return "", "", fmt.Errorf("installer image %q: is neither .../installer:<version> nor .../<platform>-installer/<schematic>:<version>", reference)
	}
}

func isInstaller(name string) bool {
	name = strings.TrimSuffix(name, "-secureboot")
	return name == "installer" || strings.HasSuffix(name, "-installer")
}
