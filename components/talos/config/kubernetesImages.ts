// The images of Kubernetes in a machine config: they are its version.
import { type Document, isMap, isScalar, parseAllDocuments } from "yaml";
import { isMapping } from "../../model/untyped.ts";
import { type ConfigValue, configDocuments, mainDocument } from "./configDocuments.ts";

export type KubernetesComponent =
  | "kubelet"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kube-proxy";

/** One image for each component that a config names one for. */
export type KubernetesImages = Readonly<Partial<Record<KubernetesComponent, string>>>;

/** Where the images are. */
const places: Readonly<Record<KubernetesComponent, readonly string[]>> = {
  kubelet: ["machine", "kubelet", "image"],
  "kube-apiserver": ["cluster", "apiServer", "image"],
  "kube-controller-manager": ["cluster", "controllerManager", "image"],
  "kube-scheduler": ["cluster", "scheduler", "image"],
  "kube-proxy": ["cluster", "proxy", "image"],
};
const components = Object.keys(places) as KubernetesComponent[];

export function kubernetesImages(config: string): KubernetesImages {
  const main = configDocuments(config)?.find(({ title }) => title === mainDocument)?.body;
  return Object.fromEntries(
    components.flatMap((component) => {
      const image = valueAt(main, places[component]);
      return typeof image === "string" ? [[component, image]] : [];
    }),
  );
}

function valueAt(body: ConfigValue | undefined, path: readonly string[]): ConfigValue | undefined {
  return path.reduce<ConfigValue | undefined>((at, key) => (isMapping(at) ? at[key] : undefined), body);
}

/** The config with other images, and otherwise byte for byte the same; undefined if it cannot be read. */
export function withImages(config: string, images: KubernetesImages): string | undefined {
  const documents = [...parseAllDocuments(config, { uniqueKeys: false })];
  const main = documents.find((document) => isMap(document.contents) && !document.has("kind"));
  if (main === undefined || documents.some(({ errors }) => errors.length > 0)) return undefined;
  const changes = Object.entries(images) as [KubernetesComponent, string][];
  const found = changes.map(([component, image]) => ({ image, range: rangeOf(main, places[component]) }));
  if (found.every(({ range }) => range !== undefined)) {
    return found
      .flatMap(({ image, range }) => (range === undefined ? [] : [{ image, range }]))
      .sort((a, b) => b.range[0] - a.range[0])
      .reduce((text, { image, range: [start, end] }) => text.slice(0, start) + image + text.slice(end), config);
  }
  // Talos' default image for a component is that of its own release. The config of a cluster that Sluice did not create may leave it to that.
  for (const [component, image] of changes) main.setIn(places[component], image);
  return documents.map(String).join("");
}

/** Where a value is in the source, with its quotes. */
function rangeOf(document: Document, path: readonly string[]): readonly [start: number, end: number] | undefined {
  const node = document.getIn(path, true);
  const [start, end] = (isScalar(node) && node.range) || [];
  return start === undefined || end === undefined ? undefined : [start, end];
}

export interface KubernetesVersion {
  /** "1.35.4" */
  readonly text: string;
  readonly minor: number;
}

const versionForm = /^v?(1\.(\d+)\.\d+.*)$/;
/** A tag such as `:v1.35.4`, with or without a digest after it. */
const tagForm = /:([^:/@]+)(?:@[^/]*)?$/;

/** Undefined if it is no version of Kubernetes. */
export function kubernetesVersion(version: string): KubernetesVersion | undefined {
  const [, text, minor] = versionForm.exec(version) ?? [];
  return text === undefined ? undefined : { text, minor: Number(minor) };
}

/** By the image's tag; undefined if it has none. */
export function imageVersion(image: string): KubernetesVersion | undefined {
  return kubernetesVersion(tagForm.exec(image)?.[1] ?? "");
}

/** The running image in the version of the wanted one. From the same repository it is the wanted one, with its digest. */
export function upgradedImage(running: string, wanted: string): string {
  const [from, to] = [repository(running), repository(wanted)];
  const tag = tagForm.exec(wanted)?.[1];
  return from === to || tag === undefined ? wanted : `${from}:${tag}`;
}

/** The running config once its images have the versions of the wanted one. */
export function upgraded(running: string, wanted: string): string {
  const [was, is] = [kubernetesImages(running), kubernetesImages(wanted)];
  const images = components.flatMap((component) => {
    const [from, to] = [was[component], is[component]];
    const isOther = from !== undefined && to !== undefined && imageVersion(from)?.text !== imageVersion(to)?.text;
    return isOther ? [[component, upgradedImage(from, to)] as const] : [];
  });
  return images.length === 0 ? running : (withImages(running, Object.fromEntries(images)) ?? running);
}

function repository(image: string): string {
  return image.replace(/@.*$/, "").replace(/:[^:/]+$/, "");
}
