import { isMembers, jsonType, type Call } from './call.ts'

/** What is wrong with an item of `inputs`, if anything is (§2.5). */
function faultOf(item: unknown): string | undefined {
  if (!isMembers(item)) return 'item'
  if (typeof item['id'] !== 'string') return 'id'
  if (!Array.isArray(item['value'])) return 'value'
  return item['value'].every((text) => typeof text === 'string') ? undefined : 'text'
}

/** A fault of the body itself or of an item, which may also count as invalid input. */
export function refuseItems(call: Call, kind: string): never {
  call.refuse('400-malformed-inputs', 400, 'BadRequest', { at: 'items', kind })
}

/** Whether a broken server leaves an item out instead of refusing it: one, or an id, of that JSON type. */
function isIgnored(call: Call, item: unknown): boolean {
  const place = isMembers(item) ? `id-${jsonType(item['id'])}` : `item-${jsonType(item)}`
  return call.broken(`400-malformed-inputs#ignores-${place}`)
}

/** Checks `inputs` by themselves, whatever the application asks for. */
export function checkInputs(call: Call): void {
  const { inputs } = call.body
  if (inputs === undefined) call.refuse('400-missing-inputs', 400, 'InvalidInputParameters')
  if (inputs === null) refuseItems(call, 'null')
  if (!Array.isArray(inputs)) call.refuse('400-malformed-inputs', 400, 'BadRequest', { kind: jsonType(inputs) })
  const looked = inputs.filter((item) => !isIgnored(call, item))
  const fault = looked.map(faultOf).find((each) => each !== undefined)
  if (fault !== undefined) refuseItems(call, fault)
  call.body = { ...call.body, inputs: looked }
}
