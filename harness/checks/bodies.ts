import { withHeader } from '../engine/probe.ts'
import { changed, each, refused } from './conditions.ts'
import { jsonFaults, malformedBy } from './malformed-json.ts'
import { condition } from './refusals.ts'

/** `Content-Type: application/json` and length 0. */
export const missingBody = changed('without a body', (probe) => ({ ...probe, body: '' }))

function textOf(body: string | Uint8Array | undefined): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

/** The valid body, changed so that RFC 8259's grammar refuses it. */
export const malformedJson = condition(async ({ valid, judge }) => {
  for (const { what, change } of jsonFaults) {
    const probe = await valid()
    const body = malformedBy(change, textOf(probe.body))
    if (body !== undefined) await judge(refused({ ...probe, body }), `with the valid body ${what}`)
  }
})

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
