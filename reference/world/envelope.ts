import { type Answer, Ending } from './answer.ts'

export interface Fault {
  readonly status: number
  readonly tpe: string
  readonly description?: string
  /** `extras` of the message (§7.1 shows them for guardrails). */
  readonly extras?: Readonly<Record<string, unknown>>
  /** Message key if it is not the usual one of the status. */
  readonly key?: string
  /** Which of a requirement's faults it is, if the spec allows it more answers than the others. */
  readonly at?: string
}

// The keys of §7.1; statuses that §7.1 does not show have keys of our own.
const keys: Readonly<Record<number, string>> = {
  400: 'fail.badRequest.invalidParameters',
  401: 'fail.unauthorized.badCredentials',
  403: 'fail.forbidden.insufficientAccessRights',
  404: 'fail.notFound.resource',
  409: 'fail.conflict.state',
  410: 'fail.gone.resource',
  413: 'fail.payloadTooLarge.body',
  422: 'fail.unprocessableEntity.rule',
  429: 'fail.tooManyRequests.quotaExceeded',
  500: 'fail.internalServerError.generic',
  503: 'fail.serviceUnavailable.temporary',
  507: 'fail.insufficientStorage.account',
}

function messageKey(status: number, tpe: string): string {
  if (tpe === 'BadToken') return 'fail.unauthorized.badToken'
  if (tpe === 'CompletionModelQuotaError') return 'fail.model.quotaExceeded'
  if (tpe.startsWith('CompletionModel')) return `fail.model.${tpe.charAt(15).toLowerCase()}${tpe.slice(16)}`
  return keys[status] ?? 'fail.other'
}

/** An error response: the envelope of §2.6, all of its fields present. */
export function envelope({ status, tpe, description, extras = {}, key }: Fault): Answer {
  const message = { description: description ?? `${tpe} (${status})`, key: key ?? messageKey(status, tpe), extras }
  return { status, body: { tpe, errors: [message], extras: {} }, error: true }
}

/** Ends with a type that the status may not carry. Its key is not one of §7.1: else the key would be wrong as well. */
export function mispaired(status: number, tpe: string): never {
  throw new Ending(envelope({ status, tpe, key: 'fail.other' }))
}

/** What a web server shows if there is nothing at a path: a page, not an envelope. */
export function page(status: number): Answer {
  return { status, text: { type: 'text/html', value: '<!doctype html><title>Not found</title>' } }
}
