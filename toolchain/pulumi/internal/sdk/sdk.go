// Package sdk writes the @pulumiverse/talos SDK for Node.js from the plugin's schema.
//
// `pulumi package gen-sdk` would do, but it asks the Node language host, and the one that can be built writes wrong
// relative imports with Go 1.26 (filepath.Rel of an empty path changed; later pulumi/pkg, used here, fixed it).
package sdk

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"sluice.invalid/toolchain/pulumi/internal/serve"
)

// Generate writes the TypeScript sources of the SDK below folder.
func Generate(folder string, info tfbridge.ProviderInfo) error {
	spec, err := serve.Schema(info)
	if err != nil {
		return err
	}

	// Nothing in the schema refers to another package, so nothing is ever loaded; nil would not be accepted.
	loader := struct{ schema.ReferenceLoader }{}

	pkg, err := schema.ImportSpec(spec, nil, loader, schema.ValidationOptions{})
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}

	files, err := nodejs.GeneratePackage("sluice", pkg, nil, nil, false, loader)
	if err != nil {
		return fmt.Errorf("SDK: %w", err)
	}

	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}

		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}

	return nil
}
