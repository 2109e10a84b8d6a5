import { expect, test } from 'vitest'
import { granting } from '../../catalogue/catalogue.ts'
import { type ListedOperation, type OperationId, operations } from '../../catalogue/operations.ts'
import type { WireResponse } from '../../harness/http/message.ts'
import { operationAt } from '../../cli/recording/exchange.ts'
import { isGranted, judge } from '../engine/networks.ts'

/** A change that a server makes to each granted response of one of its operations. Refusals: `matrix/every-case`; members: `spec/bodies`. */
interface Change {
  readonly operation: OperationId
  readonly name: string
  /** @param refusal the last response of that operation that refused a request */
  apply(response: WireResponse, refusal?: WireResponse): WireResponse
}

type Apply = Change['apply']
const textOf = ({ body }: WireResponse): string => Buffer.from(body).toString()
const withText = (response: WireResponse, text: string): WireResponse => ({
  ...response,
  body: Buffer.from(text),
})

function withType(response: WireResponse, type?: string): WireResponse {
  const others = response.headers.filter(({ name }) => name.toLowerCase() !== 'content-type')
  return {
    ...response,
    headers: type === undefined ? others : [...others, { name: 'content-type', value: type }],
  }
}

const envelope = JSON.stringify({ tpe: 'InternalError', errors: [], extras: {} })

const wholes: Readonly<Record<string, Apply>> = {
  // Neither 429 nor 503: such a response is asked for again.
  ...Object.fromEntries(
    [200, 201, 202, 400, 404, 418, 500].map((status) => [
      `status changed: ${status}`,
      (response: WireResponse) => ({ ...response, status }),
    ]),
  ),
  'content type changed: text/html': (response) => withType(response, 'text/html'),
  'content type dropped': (response) => withType(response),
  'body replaced: half of it': (response) =>
    withText(response, textOf(response).slice(0, response.body.length / 2)),
  'body replaced: an array of it': (response) => withText(response, `[${textOf(response)}]`),
  'body replaced: twice the same': (response) => withText(response, textOf(response).repeat(2)),
  'body replaced: nothing': (response) => withText(response, ''),
  'body replaced: null': (response) => withText(response, 'null'),
  'body replaced: HTML': (response) => withText(response, '<html><body>tea</body></html>'),
  'body replaced: an envelope': (response) => withText(response, envelope),
  'done, and 500': (response) =>
    withType(withText({ ...response, status: 500 }, envelope), 'application/json'),
  'done, and refused as the last that was': (response, refusal = response) => ({
    ...refusal,
    sentAt: response.sentAt,
    endedAt: response.endedAt,
  }),
}

const shown = (response: WireResponse): string =>
  JSON.stringify([
    response.status,
    response.headers.filter(({ name }) => /^content-type$/i.test(name)),
    textOf(response),
  ])

const changesOf = (
  operation: OperationId,
  response: WireResponse,
  refusal?: WireResponse,
): Change[] =>
  Object.entries(wholes)
    .filter(([, apply]) => shown(apply(response, refusal)) !== shown(response))
    .map(([name, apply]) => ({ operation, name, apply }))

interface Rule {
  readonly of?: readonly OperationId[]
  readonly except?: readonly OperationId[]
  readonly change: RegExp
}

const idsOf = (isMeant: (one: ListedOperation) => unknown): OperationId[] =>
  operations.filter(isMeant).map(({ id }) => id)

const allowed: readonly Rule[] = [
  // Payloads that §2 shows; those of the others stand nowhere.
  {
    except: idsOf(({ response }) => response),
    change: /^(?!status|done|body replaced: an envelope)/,
  },
  // §4.4 names no content type, and mostly no status.
  { except: idsOf(({ showsSuccess }) => showsSuccess), change: /^content type/ },
  {
    except: idsOf(({ id }) => typeof granting[id].expects === 'number'),
    change: /^status changed: 2/,
  },
]

const isAllowed = ({ operation, name }: Change): boolean =>
  allowed.some(
    ({ of, except, change }) =>
      (of?.includes(operation) ?? true) && !except?.includes(operation) && change.test(name),
  )
/** Judges one operation of the reference with changed responses; the ids of the requirements that failed. */
async function failedWith(operation: OperationId, change: Apply): Promise<readonly string[]> {
  let refusal: WireResponse | undefined
  // A job shows what its creation said.
  const own = operation === 'jobs.create' ? 'jobs.*' : `${operation}/*`
  const { failed } = await judge([own, 'envelope/*'], {
    ...{ reference: { jobMs: 15, slowJobMs: 1200 }, skip: ['envelope/un*'] },
    // Longer than a job of the reference lasts that nobody can read.
    limits: { jobTimeoutMs: 60_000 },
    async way(request, send) {
      const right = await send()
      const path = request.path.split('?')[0]!
      const isOwn = operationAt(request.method, path)?.operation === operation
      if (right.kind !== 'answer' || !isOwn) return right
      const { status } = right
      if (isGranted(right)) return change(right, refusal)
      // A key that is refused, or throttled, proves nothing.
      if (![401, 403, 429].includes(status)) refusal = right
      return right
    },
  })
  return failed
}

test.each(operations.map(({ id }) => id))(
  'of all changes to what %s grants, those fail that the interface forbids, and no other',
  async (operation) => {
    const changes = new Map<string, Change>()
    await failedWith(operation, (response, refusal) => {
      for (const one of changesOf(operation, response, refusal)) changes.set(one.name, one)
      return response
    })
    expect([...changes.keys()]).toContain('status changed: 500')
    for (const change of changes.values()) {
      const failed = await failedWith(operation, change.apply)
      if (isAllowed(change)) expect(failed, `${change.name}, which is allowed`).toEqual([])
      else expect(failed, `${change.name}, which is not allowed`).not.toEqual([])
    }
  },
)
