import * as outputs from "../types/output";
export declare namespace client {
    interface GetConfigurationClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
}
export declare namespace cluster {
    interface GetHealthClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
    interface GetHealthTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: string;
    }
    interface GetKubeconfigClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
    interface GetKubeconfigKubernetesClientConfiguration {
        /**
         * The kubernetes CA certificate
         */
        caCertificate: string;
        /**
         * The kubernetes client certificate
         */
        clientCertificate: string;
        /**
         * The kubernetes client key
         */
        clientKey: string;
        /**
         * The kubernetes host
         */
        host: string;
    }
    interface GetKubeconfigTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: string;
    }
    interface KubeconfigClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
    interface KubeconfigKubernetesClientConfiguration {
        /**
         * The kubernetes CA certificate
         */
        caCertificate: string;
        /**
         * The kubernetes client certificate
         */
        clientCertificate: string;
        /**
         * The kubernetes client key
         */
        clientKey: string;
        /**
         * The kubernetes host
         */
        host: string;
    }
    interface KubeconfigTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        create?: string;
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        update?: string;
    }
}
export declare namespace imageFactory {
    interface GetExtensionsVersionsExtensionsInfo {
        author: string;
        description: string;
        digest: string;
        name: string;
        ref: string;
    }
    interface GetExtensionsVersionsFilters {
        /**
         * The name of the extension to filter by.
         */
        names?: string[];
    }
    interface GetOverlaysVersionsFilters {
        /**
         * The name of the overlay to filter by.
         */
        name?: string;
    }
    interface GetOverlaysVersionsOverlaysInfo {
        digest: string;
        image: string;
        name: string;
        ref: string;
    }
    interface GetUrlsUrls {
        /**
         * The URL for the disk image.
         */
        diskImage: string;
        /**
         * The URL for the disk image with secure boot.
         */
        diskImageSecureboot: string;
        /**
         * The URL for the initramfs image.
         */
        initramfs: string;
        /**
         * The URL for the installer image.
         */
        installer: string;
        /**
         * The URL for the installer image with secure boot.
         */
        installerSecureboot: string;
        /**
         * The URL for the ISO image.
         */
        iso: string;
        /**
         * The URL for the ISO image with secure boot.
         */
        isoSecureboot: string;
        /**
         * The URL for the kernel image.
         */
        kernel: string;
        /**
         * The URL for the kernel command line.
         */
        kernelCommandLine: string;
        /**
         * The URL for the PXE image.
         */
        pxe: string;
        /**
         * The URL for the UKI image.
         */
        uki: string;
    }
    interface GetVersionsFilters {
        /**
         * If set to true, only stable versions will be returned. If set to false, all versions will be returned.
         */
        stableVersionsOnly?: boolean;
    }
}
export declare namespace machine {
    interface BootstrapTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        create?: string;
    }
    /**
     * A certificate and its key.
     */
    interface Certificate {
        cert: string;
        key: string;
    }
    /**
     * The authorities of the cluster.
     */
    interface Certificates {
        etcd: outputs.machine.Certificate;
        k8s: outputs.machine.Certificate;
        k8sAggregator: outputs.machine.Certificate;
        k8sServiceaccount: outputs.machine.Key;
        os: outputs.machine.Certificate;
    }
    /**
     * How a client proves itself to the Talos API.
     */
    interface ClientConfiguration {
        caCertificate: string;
        clientCertificate: string;
        clientKey: string;
    }
    /**
     * The cluster's identity.
     */
    interface Cluster {
        id: string;
        secret: string;
    }
    interface ConfigurationApplyOnDestroy {
        /**
         * Graceful indicates whether node should leave etcd before the upgrade, it also enforces etcd checks before leaving. Default true
         */
        graceful: boolean;
        /**
         * Reboot indicates whether node should reboot or halt after resetting. Default false
         */
        reboot: boolean;
        /**
         * Reset the machine to the initial state (STATE and EPHEMERAL will be wiped). Default false
         */
        reset: boolean;
    }
    interface GetDisksClientConfiguration {
        /**
         * The client CA certificate
         */
        caCertificate: string;
        /**
         * The client certificate
         */
        clientCertificate: string;
        /**
         * The client key
         */
        clientKey: string;
    }
    interface GetDisksDisk {
        /**
         * The bus path of the disk
         */
        busPath: string;
        /**
         * The modalias of the disk
         */
        modalias: string;
        /**
         * The model of the disk
         */
        model: string;
        /**
         * The name of the disk
         */
        name: string;
        /**
         * The serial number of the disk
         */
        serial: string;
        /**
         * The size of the disk
         */
        size: string;
        /**
         * The type of the disk
         */
        type: string;
        /**
         * The uuid of the disk
         */
        uuid: string;
        /**
         * The wwid of the disk
         */
        wwid: string;
    }
    interface GetDisksFilters {
        /**
         * Filter disks by bus path
         */
        busPath?: string;
        /**
         * Filter disks by modalias
         */
        modalias?: string;
        /**
         * Filter disks by model
         */
        model?: string;
        /**
         * Filter disks by name
         */
        name?: string;
        /**
         * Filter disks by serial number
         */
        serial?: string;
        /**
         * Filter disks by size
         */
        size?: string;
        /**
         * Filter disks by type
         */
        type?: string;
        /**
         * Filter disks by uuid
         */
        uuid?: string;
        /**
         * Filter disks by wwid
         */
        wwid?: string;
    }
    interface GetDisksTimeouts {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Read operations occur during any refresh or planning operation when refresh is enabled.
         */
        read?: string;
    }
    /**
     * A private key.
     */
    interface Key {
        key: string;
    }
    /**
     * What encrypts and bootstraps Kubernetes.
     */
    interface KubernetesSecrets {
        aescbcEncryptionSecret?: string;
        bootstrapToken: string;
        secretboxEncryptionSecret: string;
    }
    /**
     * Everything that makes a machine a member of the cluster.
     */
    interface MachineSecrets {
        certs: outputs.machine.Certificates;
        cluster: outputs.machine.Cluster;
        secrets: outputs.machine.KubernetesSecrets;
        trustdinfo: outputs.machine.TrustdInfo;
    }
    interface Timeout {
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        create?: string;
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours). Setting a timeout for a Delete operation is only applicable if changes are saved into state before the destroy operation occurs.
         */
        delete?: string;
        /**
         * A string that can be [parsed as a duration](https://pkg.go.dev/time#ParseDuration) consisting of numbers and unit suffixes, such as "30s" or "2h45m". Valid time units are "s" (seconds), "m" (minutes), "h" (hours).
         */
        update?: string;
    }
    /**
     * How machines ask for certificates.
     */
    interface TrustdInfo {
        token: string;
    }
}
