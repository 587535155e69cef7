package talosapi

import (
	"maps"
	_ "unsafe" // for go:linkname

	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/role"

	_ "github.com/siderolabs/talos/internal/app/machined/pkg/system/services" // has the rules
)

// rules defines which roles may call what. It is machined's own table, which is not exported: a copy could differ.
//
//go:linkname rules github.com/siderolabs/talos/internal/app/machined/pkg/system/services.rules
var rules map[string]role.Set

// authorizer admits the same callers as machined.
func (n *node) authorizer() *authz.Authorizer {
	allowed := rules
	if n.old {
		// Readers may call these since 1.13, where they also serve maintenance.
		allowed = maps.Clone(rules)
		allowed[machine.MachineService_ApplyConfiguration_FullMethodName] = role.MakeSet(role.Admin)
		allowed[storage.StorageService_BlockDeviceWipe_FullMethodName] = role.MakeSet(role.Admin)
	}
	return &authz.Authorizer{Rules: allowed, FallbackRoles: role.MakeSet(role.Admin)}
}
