// Package sample is a repository for a cluster of the lab to reconcile, and the
// key that its SealedSecret is sealed for.
package sample

import (
	"embed"
	"io/fs"
)

//go:embed all:repository
var files embed.FS

// SealingKey is the manifest of the key's Secret, and SealingCertificate its
// public half, as `kubeseal --cert` takes it. The key is for tests alone.
var (
	//go:embed sealing-key.yaml
	SealingKey []byte
	//go:embed sealing-certificate.pem
	SealingCertificate []byte
)

// Repository returns what the lab's git server is seeded with.
func Repository() (fs.FS, error) {
	return fs.Sub(files, "repository")
}
