import type { HttpAnswer } from '../../harness/http/message.ts'

/** Of a server that went wrong, as text. */
export const envelope = JSON.stringify({ tpe: 'InternalError', errors: [], extras: {} })

export function textOf({ body }: HttpAnswer): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
}

export function contentTypeOf({ headers }: HttpAnswer): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value
}

export function withBody(answer: HttpAnswer, text: string): HttpAnswer {
  return { ...answer, body: Buffer.from(text) }
}

/** `undefined` drops it. */
export function withContentType(answer: HttpAnswer, type: string | undefined): HttpAnswer {
  const others = answer.headers.filter(({ name }) => name.toLowerCase() !== 'content-type')
  return { ...answer, headers: type === undefined ? others : [...others, { name: 'content-type', value: type }] }
}

export function differ(one: HttpAnswer, other: HttpAnswer): boolean {
  const seen = (answer: HttpAnswer): string => JSON.stringify([answer.status, contentTypeOf(answer), textOf(answer)])
  return seen(one) !== seen(other)
}
