package sample

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/bitnami-labs/sealed-secrets/pkg/crypto"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestTheSealedSecretOpensWithTheKey(t *testing.T) {
	key := corev1.Secret{}
	require.NoError(t, yaml.UnmarshalStrict(SealingKey, &key))
	require.Equal(t, "active", key.Labels["sealedsecrets.bitnami.com/sealed-secrets-key"])
	require.Equal(t, string(SealingCertificate), string(key.Data[corev1.TLSCertKey]))
	block, _ := pem.Decode(key.Data[corev1.TLSPrivateKeyKey])
	require.NotNil(t, block)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)
	private := parsed.(*rsa.PrivateKey)

	sealed := struct {
		Metadata struct{ Name, Namespace string }
		Spec     struct{ EncryptedData map[string]string }
	}{}
	require.NoError(t, yaml.Unmarshal(read(t, "secrets/greeting.yaml"), &sealed))
	cipher, err := base64.StdEncoding.DecodeString(sealed.Spec.EncryptedData["greeting"])
	require.NoError(t, err)
	label := []byte(sealed.Metadata.Namespace + "/" + sealed.Metadata.Name)
	plain, err := crypto.HybridDecrypt(nil, map[string]*rsa.PrivateKey{"lab": private}, cipher, label)
	require.NoError(t, err)
	require.Equal(t, "hello from a sealed secret", string(plain))
}

func TestEveryFileIsPartOfAKustomization(t *testing.T) {
	repository, err := Repository()
	require.NoError(t, err)
	named := map[string]bool{"README.md": true}
	var files []string
	require.NoError(t, fs.WalkDir(repository, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if path.Base(file) != "kustomization.yaml" {
			files = append(files, file)
			return nil
		}
		folder := path.Dir(file)
		kustomization := struct{ Resources []string }{}
		require.NoError(t, yaml.Unmarshal(read(t, file), &kustomization))
		for _, resource := range kustomization.Resources {
			named[path.Join(folder, resource)] = true
			_, err := fs.Stat(repository, path.Join(folder, resource))
			require.NoError(t, err, file)
		}
		return nil
	}))
	for _, file := range files {
		require.True(t, named[file], "%s is in no kustomization.yaml", file)
	}
}

func TestTheRootAppliesFoldersThatThereAre(t *testing.T) {
	repository, err := Repository()
	require.NoError(t, err)
	for _, file := range []string{"clusters/lab/secrets.yaml", "clusters/lab/apps.yaml"} {
		kustomization := struct{ Spec struct{ Path string } }{}
		require.NoError(t, yaml.Unmarshal(read(t, file), &kustomization))
		_, err := fs.Stat(repository, path.Join(strings.TrimPrefix(kustomization.Spec.Path, "./"), "kustomization.yaml"))
		require.NoError(t, err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	repository, err := Repository()
	require.NoError(t, err)
	data, err := fs.ReadFile(repository, file)
	require.NoError(t, err)
	return data
}
