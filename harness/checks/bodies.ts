import { withHeader } from '../engine/probe.ts'
import { changed, each, refused } from './conditions.ts'

/** `Content-Type: application/json` and length 0. */
export const missingBody = changed('without a body', (probe) => ({ ...probe, body: '' }))

function textOf(body: string | Uint8Array | undefined): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

/** The valid body, changed so that RFC 8259's grammar refuses it. */
export const malformedJson = each(
  [
    {
      what: 'with the valid body cut in the middle',
      value: (text: string) => text.slice(0, Math.ceil(text.length / 2)),
    },
    { what: 'with the valid body cut before its last bracket', value: (text: string) => text.slice(0, -1) },
    { what: 'with the valid body and a bracket too many', value: (text: string) => `${text}}` },
    {
      what: 'with the valid body and a comma before its last bracket',
      value: (text: string) => `${text.slice(0, -1)},${text.slice(-1)}`,
    },
    { what: 'with the valid body and text after its end', value: (text: string) => `${text} and more` },
  ],
  (probe, change) => refused({ ...probe, body: change(textOf(probe.body)) }),
)

const otherTypes = [
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=conform',
]

/** The valid body, labelled as something else. */
export const wrongContentType = each(
  otherTypes.map((type) => ({ what: `with the valid body labelled ${type}`, value: type })),
  (probe, type) => refused(withHeader(probe, 'content-type', type)),
)
