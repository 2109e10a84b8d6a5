import type { RequirementId } from '../catalogue/catalogue.ts'
import type { OperationValue, ScenarioValue, TargetFile } from '../harness/target/target-file.ts'

/** What is judged, and what the suite may use there; ids are literal types, so that a mistyped one does not compile. */
export interface Target extends Omit<TargetFile, 'scenarios'> {
  /** How to bring about a condition that no client can cause by itself, by requirement id. */
  readonly scenarios?: Readonly<Partial<Record<RequirementId, ScenarioValue>>>
}

/** A scenario as TypeScript sees it in JSON. */
export interface ScenarioJson extends Omit<ScenarioValue, 'operation'> {
  readonly operation?: string
}

/**
 * A target as `import target from './target.json'` gives it: TypeScript takes each text of a JSON file for any text. Its ids are
 * looked at when a run begins.
 */
export interface TargetJson extends Omit<TargetFile, 'operations' | 'scenarios' | 'limits' | 'keys'> {
  readonly keys?: Readonly<Record<string, unknown>>
  readonly operations?: Readonly<Record<string, OperationValue | string>>
  readonly scenarios?: Readonly<Record<string, ScenarioJson>>
  readonly limits?: Readonly<Record<string, number | string>>
}

/** Gives the target as it is: what it adds is the type, in an editor and in TypeScript. */
export function defineTarget(target: Target): Target {
  return target
}
