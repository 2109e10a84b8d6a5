import type { Member, Operation } from '../../catalogue/operation.ts'
import { operations } from '../../catalogue/operations.ts'
import { tokensOf } from '../../schemas/pointer.ts'
import { type Json, ref } from './json.ts'

/** The bodies that the interface shows, or some members of, made from the members of each operation. */
export function requestSchemas(): Json {
  const components: Record<string, Json> = {}
  for (const { request, members } of operations as readonly Operation[]) {
    if (!request) continue
    const below = members.flatMap((member) => placed(member))
    components[request.component] = { ...objectOf('', below, components), description: request.description }
  }
  return components
}

/** A member at its place in the body; one whose place is not shown stands where an example has it, if it is shown at all (§2). */
function placed(member: Member): Member[] {
  if (member.at.startsWith('/')) return [member]
  const isTop = member.exampleAt !== undefined && tokensOf(member.exampleAt).length === 1
  return isTop && member.section.startsWith('2.') ? [{ ...member, at: member.exampleAt }] : []
}

function parentOf({ at }: Member): string {
  return at.slice(0, at.lastIndexOf('/'))
}

function nameOf({ at }: Member): string {
  return tokensOf(at).at(-1) ?? ''
}

function named(members: readonly Member[], of: (member: Member) => Json): Json {
  return Object.fromEntries(members.map((member) => [nameOf(member), of(member)]))
}

function requiredOf(members: readonly Member[]): Json {
  const required = members.filter((member) => member.required).map(nameOf)
  return required.length > 0 ? { required } : {}
}

/** The object at that place: what it may be depends on its `type`, if some members belong to one type only. */
function objectOf(at: string, all: readonly Member[], components: Record<string, Json>): Json {
  const own = all.filter((member) => parentOf(member) === at)
  const whole = (member: Member): Json => schemaOf(member, all, components)
  const kind = own.find((member) => nameOf(member) === 'type')
  const special = own.filter(({ ofType }) => ofType !== undefined)
  const common = own.filter(({ ofType }) => ofType === undefined)
  const isBelowType = special.some((member) =>
    all.some((one) => one !== member && one.at === at && one.ofType === member.ofType),
  )
  if (!kind || isBelowType) return { type: 'object', ...requiredOf(own), properties: named(own, whole) }
  if (kind.allowed && kind.allowed.length > 1) {
    const variants = kind.allowed.map((value): Json => {
      const members = own.filter(({ ofType }) => ofType === undefined || ofType === value)
      return {
        type: 'object',
        ...requiredOf(members),
        properties: { ...named(members, whole), type: { const: value } },
      }
    })
    return { oneOf: variants }
  }
  const [variant] = special
  const plain = { type: 'object', properties: { ...named(common, whole), ...named(special, kindsOf) } }
  if (!variant) return { ...plain, ...requiredOf(own) }
  return {
    ...plain,
    if: { properties: { type: { const: variant.ofType } }, required: ['type'] },
    then: { properties: named(special, whole), ...requiredOf(special) },
  }
}

function kindsOf({ kinds }: Member): Json {
  return { type: kinds[0] }
}

function schemaOf(member: Member, all: readonly Member[], components: Record<string, Json>): Json {
  const { at, kinds, component } = member
  const described = describedAs(member)
  const variants = kinds.map((kind): Json => {
    if (kind === 'array') return arrayOf(at, all, components)
    const hasMembers = kind === 'object' && all.some((one) => parentOf(one) === at)
    return hasMembers ? objectOf(at, all, components) : { type: kind, ...valuesOf(member) }
  })
  const schema = { ...(variants.length === 1 ? variants[0] : { oneOf: variants }), ...described }
  if (component === undefined) return schema
  // The query configuration has a component of its own, with its bounds.
  if (component !== 'QueryConfig') components[component] = schema
  return ref(component)
}

function arrayOf(at: string, all: readonly Member[], components: Record<string, Json>): Json {
  const item = all.find((one) => one.at === `${at}/*`)
  return { type: 'array', ...(item ? { items: schemaOf(item, all, components) } : {}) }
}

function valuesOf({ allowed, shows }: Member): Json {
  return { ...(allowed ? { enum: allowed } : {}), ...(shows === undefined ? {} : { examples: [shows] }) }
}

function describedAs({ description, section }: Member): Json {
  if (description !== undefined) return { description }
  return section === '7.3' ? { description: 'Named among the errors of §7.3.' } : {}
}
