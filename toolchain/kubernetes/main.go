package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

//go:embed embedded/schema.json
var schema []byte

//go:embed embedded/terraform-mapping.json
var mapping []byte

var version = "4.27.0"

func main() { provider.Serve("kubernetes", version, schema, mapping) }
