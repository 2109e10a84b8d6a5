import { createHash } from 'node:crypto'
import { operationAt } from '../../traffic/operation-at.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { ProxiedRequest, ProxiedResponse } from './proxy.ts'

/** The operation that a request asks for; undefined for all else. */
export function operationOf({ method, url }: ProxiedRequest): OperationId | undefined {
  return operationAt(method, url.split('?')[0] as string)?.operation
}

/** Tells the requests of a run apart in the same way in every run with its seed: names and ids that it made stand aside. */
export class Signatures {
  readonly #made = new Set<string>()
  readonly #counts = new Map<string, number>()
  readonly #suffix: RegExp

  constructor(nonce: string) {
    this.#suffix = new RegExp(`${nonce.slice(0, 4)}[0-9a-z]{4}`, 'g')
  }

  /** A name of the request, and which of its kind it is, from 0. */
  of({ method, url, headers, body }: ProxiedRequest): string {
    const { authorization = '', 'content-type': contentType = '' } = headers
    const simulated = Object.entries(headers).filter(([name]) => name.startsWith('x-'))
    let text = [method, url, authorization, contentType, JSON.stringify(simulated), body.toString('latin1')].join('\n')
    text = text.replaceAll(this.#suffix, 'fresh')
    for (const id of this.#made) text = text.replaceAll(id, 'made')
    const name = createHash('sha256').update(text).digest('hex').slice(0, 12)
    const count = this.#counts.get(name) ?? 0
    this.#counts.set(name, count + 1)
    return `${name}/${count}`
  }

  /** Learns the id that a creation gave. */
  learn({ status, body }: ProxiedResponse): void {
    if (status >= 300) return
    const id = /^\{"id":"([^"]+)"/.exec(body.toString('latin1'))?.[1]
    if (id !== undefined) this.#made.add(id)
  }
}
