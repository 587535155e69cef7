package factory

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsNoImageIsRefused(t *testing.T) {
	const foreign = "this is no image of the lab's Image Factory: it does not say what it was made from"
	qcow2 := encodeQCOW2([]byte("{}"))
	qcow2[headerLength+4] = 0xff // the extension claims to be longer than the file
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"nothing":             {nil, foreign},
		"a text":              {[]byte("hello"), foreign},
		"an empty disk":       {make([]byte, rawSize), foreign},
		"a cut label":         {encodeRaw([]byte("{}"))[:sector+len(marker)+1], foreign},
		"a lying qcow2":       {qcow2, foreign},
		"a label that is odd": {encodeRaw([]byte("{")), "reading what an image says of itself: unexpected end of JSON input"},
		"a cut archive":       {[]byte("\xfd7zXZ\x00"), "unpacking an image (.xz): unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseImage(bytes.NewReader(test.file))
			require.EqualError(t, err, test.want)
		})
	}
}

func TestInstallerReferences(t *testing.T) {
	id := strings.Repeat("ab", 32)
	for reference, want := range map[string][2]string{
		"factory.example/installer/" + id + ":v1.13.8":               {"1.13.8", id},
		"192.0.2.20/metal-installer/" + id + ":v1.12.6":              {"1.12.6", id},
		"192.0.2.20:5000/hcloud-installer/" + id + ":v1.13.8":        {"1.13.8", id},
		"192.0.2.20/metal-installer-secureboot/" + id + ":v1.13.8":   {"1.13.8", id},
		"registry.example/siderolabs/installer:v1.14.0-alpha.1":      {"1.14.0-alpha.1", DefaultSchematic},
		"registry.example/installer/" + id + ":v1.13.8@sha256:" + id: {"1.13.8", id},
	} {
		version, schematic, err := ParseInstaller(reference)
		require.NoError(t, err, reference)
		require.Equal(t, want, [2]string{version, schematic}, reference)
	}
	for reference, want := range map[string]string{
		"registry.example:5000/installer":      "has no tag to say the version of Talos",
		"installer":                            "has no tag to say the version of Talos",
		"siderolabs/installer:latest":          `tag "latest" is no version of Talos such as v1.13.8`,
		"siderolabs/installer:1.13.8":          `tag "1.13.8" is no version of Talos such as v1.13.8`,
		"siderolabs/talos:v1.13.8":             "is neither .../installer:<version> nor .../<platform>-installer/<schematic>:<version>",
		"host/metal-installer/" + "ab:v1.13.8": "is neither .../installer:<version> nor .../<platform>-installer/<schematic>:<version>",
	} {
		_, _, err := ParseInstaller(reference)
		require.ErrorContains(t, err, want, reference)
	}
}
