import { createHash } from 'node:crypto'
import type { Registered } from './read-folder.ts'

/** A service and its certificates. */
export interface Service {
  readonly name: string
  readonly uri: string
  /** Names its folder: letters, digits and dashes, the same as long as name and address are. */
  readonly slug: string
  /** The current one: the certificate of its last run that is not revoked, otherwise the last one. */
  readonly current: Registered
  /** All of them, the last run first. */
  readonly certificates: readonly Registered[]
}

/** The certificates by service, which is an address; services in the order of their names. */
export function servicesOf(registered: readonly Registered[]): Service[] {
  const byUri = new Map<string, Registered[]>()
  for (const one of registered) {
    const { uri } = one.statement.subject[0]
    byUri.set(uri, [...(byUri.get(uri) ?? []), one])
  }
  return [...byUri]
    .map(([uri, ofIt]) => serviceOf(uri, ofIt))
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.uri < b.uri ? -1 : 1))
}

/** The name of a certificate's file in the folder of its service. */
export function certificateName({ id }: Registered): string {
  return `certificate-${id.slice('sha256:'.length, 'sha256:'.length + 16)}.json`
}

function serviceOf(uri: string, ofIt: readonly Registered[]): Service {
  const certificates = [...ofIt].sort((a, b) => (judgedAt(a) < judgedAt(b) ? 1 : -1))
  const current = certificates.find(({ status }) => status !== 'revoked') ?? certificates[0]!
  const { name } = current.statement.subject[0]
  const mark = createHash('sha256').update(uri).digest('hex').slice(0, 8)
  const word = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)
  return { name, uri, slug: [word, mark].filter(Boolean).join('-'), current, certificates }
}

function judgedAt({ statement, id }: Registered): string {
  return `${statement.predicate.run.startedAt} ${id}`
}
