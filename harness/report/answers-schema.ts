import { defined, described, type Fitting, integer, listOf } from '../../schemas/closed.ts'
import { object, oneOf, type Schema, text } from '../../schemas/closed.ts'

const count = defined<number>('count')
const onceOrMore: Schema<number> = { type: 'integer', minimum: 1 }

export const page = object(
  { status: integer, times: onceOrMore },
  { title: text, server: described('The Server header.', text) },
)
/** Error responses of one kind that were pages in place of envelopes. */
export type PageCount = Fitting<typeof page>

export const statuses = listOf(object({ status: integer, times: count }))

export const answersDiffer = object(
  {
    status: integer,
    times: described('How many answers of the run were so.', count),
    of: described('How many answers there were.', count),
    requirements: described('How many requirements show it.', count),
    like: described(
      'instance: it comes and goes; outage: nearly every answer for a time; change: nearly every answer since a time.',
      oneOf('instance', 'outage', 'change'),
    ),
    since: described('When the first came.', text),
    until: described('When the last came.', text),
  },
  {
    tpe: text,
    header: described(
      'A header of nearly all of these answers, and of nearly no other; or of a small share of all, in percent.',
      object({ name: text, value: text }, { share: integer }),
    ),
    cookie: described(
      'A cookie that instances set, each another value: it may keep requests on one of them.',
      text,
    ),
  },
)
/** An answer that comes and goes: the same requests were answered otherwise as well. */
export type AnswersDiffer = Fitting<typeof answersDiffer>
