package talos

import (
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// The bridge would name a nested type after each resource that has it (SecretsMachineSecrets). The official SDK
// shares one type under one name, which programs import, so the same names are declared here.
const prefix = "talos:machine/generated:"

type field struct {
	terraformName string
	info          tfbridge.SchemaInfo
}

var (
	clientConfiguration = field{"client_configuration", tfbridge.SchemaInfo{Elem: &tfbridge.SchemaInfo{Type: prefix + "ClientConfiguration"}}}
	machineSecrets      = field{"machine_secrets", tfbridge.SchemaInfo{Elem: &tfbridge.SchemaInfo{Type: prefix + "MachineSecrets"}}}
	timeouts            = field{"timeouts", tfbridge.SchemaInfo{Elem: &tfbridge.SchemaInfo{NestedType: "Timeout"}}}
)

func fields(list ...field) map[string]*tfbridge.SchemaInfo {
	result := map[string]*tfbridge.SchemaInfo{}
	for _, f := range list {
		result[f.terraformName] = &f.info
	}

	return result
}

func sharedTypes() map[string]schema.ComplexTypeSpec {
	return map[string]schema.ComplexTypeSpec{
		prefix + "ClientConfiguration": object("How a client proves itself to the Talos API.",
			text("caCertificate"), text("clientCertificate"), secret("clientKey")),
		prefix + "Certificate": object("A certificate and its key.", text("cert"), secret("key")),
		prefix + "Key":         object("A private key.", secret("key")),
		prefix + "Cluster":     object("The cluster's identity.", text("id"), secret("secret")),
		prefix + "TrustdInfo":  object("How machines ask for certificates.", secret("token")),
		prefix + "KubernetesSecrets": object("What encrypts and bootstraps Kubernetes.",
			secret("bootstrapToken"), secret("secretboxEncryptionSecret"), optional(secret("aescbcEncryptionSecret"))),
		prefix + "Certificates": object("The authorities of the cluster.",
			ref("etcd", "Certificate"), ref("k8s", "Certificate"), ref("k8sAggregator", "Certificate"),
			ref("k8sServiceaccount", "Key"), ref("os", "Certificate")),
		prefix + "MachineSecrets": object("Everything that makes a machine a member of the cluster.",
			ref("certs", "Certificates"), ref("cluster", "Cluster"), ref("secrets", "KubernetesSecrets"), ref("trustdinfo", "TrustdInfo")),
	}
}

type property struct {
	name     string
	optional bool
	spec     schema.PropertySpec
}

func object(description string, properties ...property) schema.ComplexTypeSpec {
	spec := schema.ObjectTypeSpec{Type: "object", Description: description, Properties: map[string]schema.PropertySpec{}}

	for _, p := range properties {
		spec.Properties[p.name] = p.spec

		if !p.optional {
			spec.Required = append(spec.Required, p.name)
		}
	}

	return schema.ComplexTypeSpec{ObjectTypeSpec: spec}
}

func text(name string) property {
	return property{name: name, spec: schema.PropertySpec{TypeSpec: schema.TypeSpec{Type: "string"}}}
}

func secret(name string) property {
	p := text(name)
	p.spec.Secret = true

	return p
}

func optional(p property) property {
	p.optional = true

	return p
}

func ref(name, typeName string) property {
	return property{name: name, spec: schema.PropertySpec{TypeSpec: schema.TypeSpec{Ref: "#types/" + prefix + typeName}}}
}
