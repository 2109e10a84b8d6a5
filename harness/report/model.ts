/**
 * The result model: what a run learned, and the one form that every renderer reads. Its JSON form is `conformance-report/1`;
 * most of its types are those of the values that fit its schema, which says what each member means.
 */
import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { AnyReport, AnyResult } from './report-schema.ts'

export type {
  ExchangeRole,
  FailureExchange,
  RecordedBody,
  RecordedExchange,
  RecordedHeaders,
  RecordedRequest,
  RecordedResponse,
} from '../recording/index.ts'
export type * from './report-schema.ts'
export type { Failure, TakesState } from './failure-schema.ts'
export type { Absence, LeftOutBy, Why } from './why-schema.ts'
export type { AnswersDiffer, PageCount } from './answers-schema.ts'
export type { Story, StoryStep } from './story-schema.ts'

/** The result of one requirement; `reason` and `why` are given if it was not judged. */
export interface RequirementResult<Id extends string = string> extends AnyResult {
  id: Id
}

/** A result of a run of this version: its id is one of the catalogue's. */
export type CatalogueResult = RequirementResult<RequirementId>

/** @typeParam Id the ids that it may have: those of a run are the catalogue's, those of a file may be of another version */
export interface Report<Id extends string = string> extends AnyReport {
  requirements: RequirementResult<Id>[]
}

/** A report before it is decided how the command ends. */
export type Undecided = Omit<Report, 'exit'>
