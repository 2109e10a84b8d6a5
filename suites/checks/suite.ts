import { isRefusal, type Pairs } from '../../catalogue/answers.ts'
import {
  type AreaName,
  type AreaRequirement,
  type CatalogueRequirement,
  conditionOf,
  areas,
} from '../../catalogue/catalogue.ts'
import type { Judge } from '../../harness/run/index.ts'
import type { Condition, JudgedCases, KnownCases } from './case.ts'
import { grantedByScenario } from './granted.ts'
import { judgeRefusal } from './refusal.ts'
import { byScenario, type Further } from './scenario.ts'

type ConditionName<Id extends string> = Id extends `${string}/${infer Name}` ? Name : never

type CheckOf<R extends { readonly expects?: unknown }> = R['expects'] extends Pairs
  ? Check
  : Exclude<Check, Condition>

type Probed<A extends AreaName> = Exclude<AreaRequirement<A>, { readonly scenarioOnly: true }>
type Staged<A extends AreaName> = Extract<AreaRequirement<A>, { readonly scenarioOnly: true }>

/**
 * A check for each requirement of the area, except those that only a scenario can trigger, which are judged by their
 * pairs.
 */
export type Checks<A extends AreaName> = {
  readonly [R in Probed<A> as ConditionName<R['id']>]: CheckOf<R>
} & {
  readonly [R in Staged<A> as ConditionName<R['id']>]?: CheckOf<R>
}

interface Judging {
  readonly judge: Judge
  /** For the plan, the dry run and `explain`. */
  readonly cases?: KnownCases
}

export type Suite = (id: string) => Judging | undefined

/** `further`: what a scenario's answer must show besides its pair. */
type Check = Condition | JudgedCases | { readonly further: Further } | Judge

/**
 * Defines how the requirements of an area are judged; `*` are shared by several operations. Checks are created on
 * demand.
 */
export function suite<const A extends AreaName, C extends Checks<A>>(
  area: A,
  checks: () => C & Readonly<Record<Exclude<keyof C, keyof Checks<A>>, never>>,
): Suite {
  let made: Readonly<Record<string, Check | undefined>> | undefined
  return (id) => {
    const rows: readonly CatalogueRequirement[] = areas[area]
    const requirement = rows.find((one) => one.id === id)
    if (!requirement) return undefined
    made ??= checks()
    const check = made[conditionOf(id)]
    const further = check && 'further' in check ? check.further : undefined
    const judge: Judge = (context) => {
      const isGranted = !isRefusal(requirement.expects)
      if (!check || 'further' in check || (context.scenario && !isGranted))
        // A scenario overrides the suite's own way to cause a refusal.
        return isGranted ? grantedByScenario(context) : byScenario(context, further)
      if (typeof check === 'function') return check(context)
      return 'casesIn' in check ? judgeRefusal(context, check) : check.judge(context)
    }
    return { judge, ...(check && 'cases' in check && { cases: check }) }
  }
}
