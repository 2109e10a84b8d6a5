import fc from 'fast-check'
import {
  type QueryConfigMember,
  queryConfigMembers,
  togetherCases,
} from '../catalogue/operations.ts'
import { jsonOf, type Probe, withJson, open } from '../harness/journal/index.ts'
import { getAt, isObject, preview, setAt } from '../schemas/json.ts'
import {
  type Case,
  type Cases,
  type Fault,
  inMember,
  type JudgedCases,
  type Material,
} from './checks/case.ts'
import { pointerOf } from './checks/changes.ts'
import { grantedBy, type GrantedCheck } from './checks/granted.ts'
import { withoutRoles } from './checks/valid-request.ts'
import { randomFor, shuffled } from './checks/random.ts'

/** §2.7: `query_config` of a graph query, or in the graph tool of a chat. */

interface Setting {
  readonly what: string
  readonly fault?: Fault
  readonly config: (declared: Readonly<Record<string, unknown>>) => unknown
}

const path = '{query_config}'

const having = (name: string, value: unknown, what: string): Setting => ({
  what: `with query_config.${name} ${what}`,
  config: (declared) => ({ ...declared, [name]: value }),
})

function asCase(material: Material, pointer: string, setting: Setting): Case {
  const { operation } = material
  const { what, config, fault } = setting
  const change = (valid: Probe): Probe => {
    const body =
      operation === 'chat.create'
        ? withoutRoles(material, operation, material.target.operations[operation]?.body, [
            'stream',
            'stream_options',
          ])
        : jsonOf(valid)
    const own = getAt(body, pointer)
    return withJson(valid, setAt(body, pointer, config(isObject(own) ? own : {})))
  }
  return { what, faults: fault && [fault], change, effect: material.valid.effect }
}

const settingsAt = (material: Material): string | undefined =>
  pointerOf(material, material.operation, 'query_config')

function inside({ name, kind, range }: QueryConfigMember): fc.Arbitrary<Setting> {
  const [min, max] = range ?? [0, 1]
  const value =
    kind === 'boolean'
      ? fc.boolean()
      : fc.integer(kind === 'integer' ? { min, max } : { min: min * 100, max: max * 100 })
  return value.map((drawn) => {
    const own = kind === 'fraction' ? Number(drawn) / 100 : drawn
    return having(name, own, preview(own))
  })
}

const generatedInside = fc.constantFrom(...queryConfigMembers).chain(inside)

const alone = (): Setting[] =>
  queryConfigMembers.flatMap((member) =>
    member.inside.map((value) => ({
      ...having(member.name, value, preview(value)),
      fault: inMember('inside', `${path}/${member.name}`),
    })),
  )

/**
 * Columns of six bits with three ones and a leading zero: any two show all four pairs of bits (Kleitman and Spencer
 * 1973).
 */
const columns = [7, 11, 13, 14, 19, 21, 22, 25, 26, 28]

/** All members at their bounds: for any two members, every combination of their bounds, in seeded order. */
function together(random: () => number): Setting[] {
  const drawn = shuffled(columns, random)
  return Array.from({ length: togetherCases }, (_, row) => {
    const config = Object.fromEntries(
      queryConfigMembers.map((member, at) => [member.name, member.inside[(drawn[at]! >> row) & 1]]),
    )
    return {
      what: `with query_config ${JSON.stringify(config)}`,
      fault: inMember('together', path),
      config: () => config,
    }
  })
}

const whole: readonly Setting[] = [
  { what: 'with an empty query_config', fault: inMember('empty', path), config: () => ({}) },
  {
    what: 'with all defaults as query_config',
    fault: inMember('defaults', path),
    config: () =>
      Object.fromEntries(
        queryConfigMembers.flatMap((one) =>
          one.default === undefined ? [] : [[one.name, one.default]],
        ),
      ),
  },
]

function withoutEach(declared: unknown): Setting[] {
  const names = isObject(declared) ? Object.keys(declared).slice(0, queryConfigMembers.length) : []
  return names.map((name) => ({
    what: `with the declared query_config without ${name}`,
    fault: inMember('absent', `${path}/${name}`),
    config: ({ [name]: _left, ...rest }) => rest,
  }))
}

/**
 * Sends settings inside the bounds: each member alone, no member, all members, the declared members without each in turn,
 * and at last one member with any value.
 */
export function insideBounds(check?: GrantedCheck): JudgedCases {
  const cases: Cases = (material) => {
    const pointer = settingsAt(material)
    if (pointer === undefined)
      return open(`declare operations.${material.operation}.fields.query_config`)
    const declared = getAt(material.target.operations[material.operation]?.body, pointer)
    const random = randomFor(material, material.requirement.id)
    const settings = [...alone(), ...whole, ...together(random), ...withoutEach(declared)]
    return settings.map((setting) => asCase(material, pointer, setting))
  }
  return grantedBy(cases, {
    check,
    generated: (material) =>
      generatedInside.map((setting) => asCase(material, settingsAt(material)!, setting)),
    inScenario: 'with query_config.search_weight 50',
  })
}
