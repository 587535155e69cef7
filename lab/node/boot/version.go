package boot

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
)

// Version is a version of Talos, such as 1.13.8.
type Version struct{ semver.Version }

// ParseVersion parses a version of Talos.
func ParseVersion(text string) (Version, error) {
	parsed, err := semver.Parse(strings.TrimPrefix(text, "v"))
	if err != nil {
		return Version{}, fmt.Errorf("no version of Talos: %q: %w", text, err)
	}
	return Version{parsed}, nil
}

// EarlyAPI means that apid runs before there is a config, and also serves maintenance and installation.
func (v Version) EarlyAPI() bool {
	return v.GE(semver.MustParse("1.13.0-alpha.0"))
}

// FinishesCleanly means that a service that is stopped before it runs is Finished, and not Failed.
func (v Version) FinishesCleanly() bool {
	return v.GE(semver.MustParse("1.13.0-alpha.0"))
}

// ReportsPulls means that the progress of a pull is in machined's log.
func (v Version) ReportsPulls() bool {
	return v.GE(semver.MustParse("1.13.0-alpha.0"))
}

// Has113Types says that it has the types of resources of 1.13.
func (v Version) Has113Types() bool {
	return v.GE(semver.MustParse("1.13.0-alpha.0"))
}

// Syslogd says that auditd and syslogd are services.
func (v Version) Syslogd() bool {
	return v.GE(semver.MustParse("1.12.0-alpha.0"))
}

// ModeOf returns the mode in which Talos runs on a platform.
func ModeOf(platform string) (runtime.Mode, error) {
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

// ParseInstaller returns what an installer image would install.
func ParseInstaller(image string) (schematic, version string, err error) {
	found := installerImage.FindStringSubmatch(image)
	if found == nil {
		return "", "", fmt.Errorf("%q is no installer image: wanted …/installer/<schematic>:<version>", image)
	}
	parsed, err := ParseVersion(found[2])
	if err != nil {
		return "", "", fmt.Errorf("installer image %q: %w", image, err)
	}
	return found[1], parsed.String(), nil
}
