# Makes a snapshot of Talos in a Hetzner project: a small server boots its rescue system, writes the Image Factory's disk image
# over its own disk, and is snapshotted. HCLOUD_TOKEN determines the project.
#
#   packer init packer/hetzner-talos.pkr.hcl
#   packer build -var talos_version=1.13.8 -var schematic_id=<id> packer/hetzner-talos.pkr.hcl
#
# `npm run preview -- <environment>` shows the schematic's id as an output.

packer {
  required_version = ">= 1.9.0"
  required_plugins {
    hcloud = {
      source  = "github.com/hetznercloud/hcloud"
      version = ">= 1.6.0, < 2.0.0"
    }
  }
}

variable "talos_version" {
  type        = string
  description = "Talos release in full, without v."
}

variable "schematic_id" {
  type        = string
  description = "Id of the Image Factory's schematic, 64 hexadecimal digits."
  validation {
    condition     = can(regex("^[0-9a-f]{64}$", var.schematic_id))
    error_message = "The schematic_id must be 64 hexadecimal digits."
  }
}

variable "schematic" {
  type        = string
  description = "The schematic itself, to register it at the factory first. Empty if the factory knows the id."
  default     = ""
}

variable "architecture" {
  type        = string
  description = "Architecture of the servers: amd64 or arm64."
  default     = "amd64"
  validation {
    condition     = contains(["amd64", "arm64"], var.architecture)
    error_message = "The architecture must be amd64 or arm64."
  }
}

variable "factory" {
  type        = string
  description = "Host of the Image Factory."
  default     = "factory.talos.dev"
}

variable "location" {
  type        = string
  description = "Location of the temporary server. The snapshot can be used everywhere."
  default     = "fsn1"
}

variable "labels" {
  type        = map(string)
  description = "Labels of the snapshot. Empty: those that the program looks for."
  default     = {}
}

variable "server_type" {
  type        = string
  description = "Type of the server, should Hetzner have none left of the one that is taken otherwise."
  default     = ""
}

locals {
  # A server cannot have a smaller disk than its snapshot was made on: these types have the smallest that there is, 40 GB.
  # cx23 has it too and costs less, but is sold out for months at a time.
  smallest    = { amd64 = "cpx12", arm64 = "cax11" }[var.architecture]
  server_type = var.server_type != "" ? var.server_type : local.smallest

  # A label's value holds 63 characters and the id has 64, so two labels hold one half each (components/images/snapshotLabels.ts).
  own_labels = {
    os             = "talos"
    version        = var.talos_version
    schematic      = substr(var.schematic_id, 0, 32)
    schematic-rest = substr(var.schematic_id, 32, 32)
    architecture   = var.architecture
  }
}

source "hcloud" "talos" {
  rescue          = "linux64"
  image           = "debian-12" # never booted, but a server needs one
  location        = var.location
  server_type     = local.server_type
  server_name     = "talos-${replace(var.talos_version, ".", "-")}-${var.architecture}-snapshot"
  ssh_username    = "root"
  snapshot_name   = "Talos ${var.talos_version} ${var.architecture} ${var.schematic_id}"
  snapshot_labels = length(var.labels) > 0 ? var.labels : local.own_labels
}

build {
  sources = ["source.hcloud.talos"]

  provisioner "file" {
    content     = var.schematic
    destination = "/root/schematic.yaml"
  }

  provisioner "shell" {
    inline_shebang = "/bin/bash -euo pipefail"
    environment_vars = [
      "FACTORY=https://${var.factory}",
      "SCHEMATIC=${var.schematic_id}",
      "IMAGE=image/${var.schematic_id}/v${var.talos_version}/hcloud-${var.architecture}.raw.xz",
    ]
    inline = [
      # The factory builds only schematics that somebody has shown it.
      "if [ -s /root/schematic.yaml ]; then known=$(curl -fsS --retry 3 --data-binary @/root/schematic.yaml \"$FACTORY/schematics\"); case \"$known\" in *\"$SCHEMATIC\"*) ;; *) echo \"the factory calls the schematic $known, not $SCHEMATIC\" >&2; exit 1;; esac; fi",
      "curl -fsSL --retry 3 \"$FACTORY/$IMAGE\" | xz -dc | dd of=/dev/sda bs=4M conv=fsync status=none",
      "sync",
    ]
  }
}
