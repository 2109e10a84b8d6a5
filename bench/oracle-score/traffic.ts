import { createHash } from 'node:crypto'
import type { OperationId } from '../../catalogue/operations.ts'
import type { HttpAnswer, HttpRequest } from '../../harness/http/message.ts'
import { operationAt } from '../../traffic/operation-at.ts'
import { textOf } from './answer.ts'

/** A request, told from all others of its run in the same way in every run with its seed. */
export interface Asked {
  /** undefined for what is no operation. */
  readonly operation: OperationId | undefined
  /** Which request, and the how manyeth of its kind. */
  readonly signature: string
  readonly request: HttpRequest
}

export interface Exchanged {
  readonly request: HttpRequest
  readonly answer: HttpAnswer
}

/** What went before a request to the same operation. */
export interface Past {
  readonly last: Exchanged | undefined
  readonly granted: Exchanged | undefined
  readonly refused: Exchanged | undefined
  /** An object that the request names, and the newest other one that was made in the same way. */
  readonly objects: { readonly named: string; readonly other: string } | undefined
}

/** Without the beginning of that id at its end: there a body that is no JSON was cut. */
function withoutEndOf(text: string, id: string): string {
  const tail = /[\w-]+$/.exec(text)?.[0] ?? ''
  return tail.length >= 8 && id.startsWith(tail) ? `${text.slice(0, -tail.length)}made` : text
}

/** The requests and answers of one run, so far. */
export class Traffic {
  readonly #made: { readonly id: string; readonly by: OperationId | undefined }[] = []
  readonly #counts = new Map<string, number>()
  readonly #exchanges = new Map<OperationId | undefined, Exchanged[]>()
  readonly #suffix: RegExp

  /** @param nonce of the run: names that hold it count as one. */
  constructor(nonce: string) {
    this.#suffix = new RegExp(`${nonce.slice(0, 4)}[0-9a-z]{4}`, 'g')
  }

  /** Names and ids that the run made stand aside. */
  asked(request: HttpRequest): Asked {
    const { method, path, headers, body = '' } = request
    const telling = headers.filter(({ name }) => /^(authorization|content-type|x-.*)$/i.test(name))
    const lines = telling.map(({ name, value }) => `${name.toLowerCase()}: ${value}`).sort()
    let text = [method, path, ...lines, Buffer.from(body).toString('latin1')].join('\n')
    text = text.replaceAll(this.#suffix, 'fresh')
    for (const { id } of this.#made) text = withoutEndOf(text.replaceAll(id, 'made'), id)
    const name = createHash('sha256').update(text).digest('hex').slice(0, 12)
    const count = this.#counts.get(name) ?? 0
    this.#counts.set(name, count + 1)
    const operation = operationAt(method, path.split('?')[0] as string)?.operation
    return { operation, signature: `${name}/${count}`, request }
  }

  past({ operation, request }: Asked): Past {
    const own = this.#exchanges.get(operation) ?? []
    return {
      last: own.at(-1),
      granted: own.findLast(({ answer }) => answer.status < 300),
      refused: own.findLast(({ answer }) => answer.status >= 400),
      objects: this.#objects(request),
    }
  }

  learn({ operation, request }: Asked, answer: HttpAnswer): void {
    const own = this.#exchanges.get(operation) ?? []
    this.#exchanges.set(operation, own)
    own.push({ request, answer })
    const id = answer.status < 300 ? /^\{"id":"([^"]+)"/.exec(textOf(answer))?.[1] : undefined
    if (id !== undefined && !this.#made.some((made) => made.id === id)) this.#made.push({ id, by: operation })
  }

  #objects({ path, body }: HttpRequest): Past['objects'] {
    const text = path + (typeof body === 'string' ? body : '')
    const named = this.#made.find(({ id }) => text.includes(id))
    const other = this.#made.findLast(({ id, by }) => by === named?.by && !text.includes(id))
    return named && other && { named: named.id, other: other.id }
  }
}
