package node

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
)

// version is of Talos, such as 1.13.8.
type version struct{ semver.Version }

func parseVersion(text string) (version, error) {
	parsed, err := semver.Parse(strings.TrimPrefix(text, "v"))
	if err != nil {
		return version{}, fmt.Errorf("no version of Talos: %q: %w", text, err)
	}
	return version{parsed}, nil
}

// earlyAPI says that apid runs before a config is there, and serves
// maintenance and installation too.
func (v version) earlyAPI() bool {
	return v.GE(semver.MustParse("1.13.0-alpha.0"))
}

// syslogd says that there are auditd and syslogd as services.
func (v version) syslogd() bool {
	return v.GE(semver.MustParse("1.12.0-alpha.0"))
}

// modeOf is how Talos runs on a platform.
func modeOf(platform string) (runtime.Mode, error) {
	switch platform {
	case "metal":
		return runtime.ModeMetal, nil
	case "hcloud", "nocloud":
		return runtime.ModeCloud, nil
	default:
		return 0, fmt.Errorf("no platform %q: there are hcloud, nocloud and metal", platform)
	}
}

// installerImage matches "…/installer/<schematic>:v1.13.8", also with the
// platform in the name, as in "hcloud-installer".
var installerImage = regexp.MustCompile(`/(?:[a-z0-9-]+-)?installer(?:-secureboot)?(?:/([0-9a-f]{64}))?:v?([0-9][^@]*)(?:@.*)?$`)

// parseInstaller reads what an installer image would install.
func parseInstaller(image string) (schematic, version string, err error) {
	found := installerImage.FindStringSubmatch(image)
	if found == nil {
		return "", "", fmt.Errorf("%q is no installer image: wanted …/installer/<schematic>:<version>", image)
	}
	parsed, err := parseVersion(found[2])
	if err != nil {
		return "", "", fmt.Errorf("installer image %q: %w", image, err)
	}
	return found[1], parsed.String(), nil
}
