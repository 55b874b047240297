// The JSON that the server sends, and the descriptions that the view module draws. Only the type checker reads this file.

type Need = "off" | "optional" | "required";
type Value = string | number;
type Status = "rated" | "skipped" | "cannot_assess" | "not_asked" | "failed";

interface Span {
  field: string;
  start: number;
  end: number;
}

// The form

interface Condition {
  criterion: string;
  any_of: Value[] | null;
  at_least: number | null;
  at_most: number | null;
}

interface Scale {
  type: "ordinal" | "nominal" | "text" | "percent" | "continuous";
  values: { value: Value; label: string; text: string }[];
  /** The least and the greatest number, if any number between them is an answer. */
  ends: [number, number] | null;
  unanswerable: boolean;
  /** Answers that need no evidence even if it is required. */
  exempt_from_evidence: string[];
}

interface Criterion {
  id: string;
  title: string;
  question: string;
  required: boolean;
  when: Condition | null;
  /** The field whose claims it is asked about; null: all of them. */
  of: string | null;
  /** The fields to check against; null: those of the form. */
  against: string[] | null;
  scale: Scale;
  rationale: Need;
  evidence: Need;
  cannot_assess: boolean;
}

interface FieldSpec {
  name: string;
  title: string;
  kind: "text" | "passages" | "triples" | "ids" | "label" | "number";
  role: "evidence" | "rated" | "reference" | "context";
  description: string | null;
}

interface Form {
  study: { id: string; digest: string; language: string };
  rater: string;
  unit: "item" | "sentence" | "question" | "claim";
  rated_field: string | null;
  fields: FieldSpec[];
  criteria: Criterion[];
  confidence: Need;
  notes: Need;
  lead: string;
  evidence_fields: string[];
  training: number;
  training_optional: boolean;
  reveal: "never" | "models" | "all";
}

// Tasks

interface Part {
  offset: number;
  text: string;
  label: string | null;
  triple: [string, string, string] | null;
}

interface Rating {
  id: string;
  status: Status;
  value: Value | null;
  rationale: string | null;
  confidence: number | null;
  notes: string | null;
  evidence: Span[];
  reason: string | null;
  at: string;
}

interface Unit {
  position: number;
  text: string | null;
  span: Span | null;
  field: string | null;
  finished: boolean;
  ratings: Record<string, Rating>;
}

interface Feedback {
  explanation: string | null;
  criteria: { criterion: string; expected: Value | null; given: Value | null; right: boolean; close: boolean;
    rationale: string | null; evidence: string[] }[];
}

interface OtherRating {
  rater: string;
  position: number;
  criterion: string;
  status: Status;
  value: Value | null;
  rationale: string | null;
}

interface Results {
  feedback: Feedback | null;
  others: OtherRating[] | null;
}

/** A rater's task is known by its number; an adjudicator's by the id of its unit. */
type TaskId = number | string;

interface Task extends Results {
  number: TaskId;
  place?: number;
  previous?: TaskId | null;
  purpose: "training" | "rate" | "ruling";
  state: "open" | "done" | "returned";
  locked: boolean;
  title: string | null;
  fields: { name: string; parts: Part[] }[];
  units: Unit[];
}

interface Progress {
  done: number;
  of: number | null;
}

interface NextTask {
  state: "task" | "paused" | "done";
  task: Task | null;
  progress: Progress;
  completion: string | null;
}

interface ListedTask {
  number: number;
  purpose: "training" | "rate";
  state: "open" | "done" | "returned";
}

// Adjudication

interface Dispute {
  unit: string;
  item: string;
  text: string;
  disagreement: number;
  by_criterion: Record<string, number>;
  ruled: boolean;
}

interface JudgedRating extends Rating {
  rater: string;
  kind: "person" | "model" | "rule";
  criterion: string;
  adjudicator: boolean;
}

interface DisputedUnit {
  unit: string;
  fields: Task["fields"];
  units: Unit[];
  ratings: JudgedRating[];
}

// The owner's page

interface Statistic {
  value: number | null;
  ci: [number, number] | null;
  n: number;
  why: string | null;
}

interface RaterProgress {
  rater: string;
  role: "rater" | "adjudicator";
  paused: boolean;
  needs_help: string[];
  tasks: { open: number; done: number };
  share: number | null;
  units_rated: number;
  per_hour: number | null;
  seconds_per_unit: number;
  gold: Statistic | null;
  repeat: Statistic | null;
  training: Statistic | null;
  with_others: Statistic | null;
  seen: string;
}

interface StudyProgress {
  protocol: string;
  version: string;
  unit: Form["unit"];
  items: number;
  units: number;
  raters: number;
  overlap: number | null;
  paused: boolean;
  items_given: number;
  items_wanted: number;
  units_done: number;
}

interface AgreementPoint extends Statistic {
  ratings: number;
  units: number;
  percent: Statistic;
}

interface Invite {
  id: string;
  name: string | null;
  role: "rater" | "adjudicator";
  seats: number;
  joined: number;
  share: number | null;
  expires: string | null;
  state: "open" | "full" | "expired" | "revoked";
}

interface OpenTask {
  number: number;
  item: string | null;
  purpose: string;
  opened: string;
  expires: string;
}

// shared/view.js

interface ViewNode {
  tag: string;
  attributes: Record<string, any>;
  children: Child[];
}

type Child = ViewNode | string | null | undefined | false | Child[];

// shared/

type BrowserStorage = import("./shared/storage.js").BrowserStorage;
type ActiveTime = import("./shared/active_time.js").ActiveTime;
type Refused = import("./shared/api.js").Refused;

interface Column<Row> {
  title: string;
  cell: (row: Row) => Child;
  class?: string;
  /** Shown to screen readers only. */
  hideTitle?: boolean;
}

// workbench/

type TaskState = import("./workbench/task_state.js").TaskState;
type Outbox = import("./workbench/outbox.js").Outbox;

type AnswerPart = "value" | "rationale" | "evidence" | "confidence" | "notes";

interface Answer {
  /** null: not answered yet */
  status: "rated" | "skipped" | "cannot_assess" | null;
  value: Value | null;
  rationale: string | null;
  confidence: number | null;
  notes: string | null;
  evidence: Span[];
}

/** What a unit lacks, and the criterion to go to. */
interface Missing {
  criterion: string;
  part: AnswerPart;
  instruction: string;
}

/** An answer on its way to the server. */
interface Entry {
  /** The rating's id, made here; entries are sent in the order of their ids. */
  id: string;
  kind: "rating" | "finish";
  task: TaskId;
  position: number;
  criterion: string | null;
  /** The id of the rating that this one replaces. */
  after: string | null;
  body: any;
  /** Of the protocol it was made under. */
  digest: string;
  refused: { status: number; error: string; present?: Rating | null } | null;
}

type OutboxState = "idle" | "sending" | "offline" | "retrying" | "signed out";

/** How far an answer is on its way to the server. */
interface SaveState {
  state: "none" | "waiting" | "refused" | "saved";
  entry?: Entry;
  at?: string;
}

interface Change {
  task: TaskId;
  position: number;
  criterion: string;
  before: Answer;
  /** The text field that was typed in: a text is undone as a whole, not letter by letter. */
  typing: string | null;
}

/** Which choice the keyboard is on. `isQuiet`: a digit chose it; it shows as chosen and needs no focus ring. */
type Cursor = { index: number; isQuiet: boolean } | null;

interface ChoicesState {
  id: string;
  /** The id of the question. */
  labelledBy: string;
  scale: Scale;
  language: string;
  value: Value | null;
  locked: boolean;
  cursor: Cursor;
}

/** What is being typed into a field. */
interface Draft {
  text: string;
  save: (text: string) => boolean | void;
  isDirty: boolean;
  isInvalid: boolean;
  timer: number;
}

interface TextField {
  id: string;
  kind: "lines" | "number" | "percent";
  label?: string;
  /** The id of a label elsewhere. */
  labelledBy?: string;
  hint?: string;
  saved: string;
  /** Returns false if the text cannot be saved as it is. */
  save: (text: string) => boolean | void;
  /** Called on Enter, after saving; by default the page's own. */
  accept?: () => void;
}

type Field = FieldSpec & { parts: Part[] };

/** Which field is shown where. */
interface Arrangement {
  /** Of the pane next to the criteria. */
  name: string;
  /** The texts in that pane. */
  sources: Field[];
  /** Short values. */
  facts: Field[];
  /** The texts above what is rated. */
  context: Field[];
  rated: Field[];
  /** Whether the pane holds what is rated, and must stay in view with the criteria. */
  together: boolean;
}

/** What is open on the page. */
interface PageState {
  position: number;
  /** The id of the open criterion. */
  open: string;
  cursor: Cursor;
  complaint: { message: string; criterion: string | null; part: AnswerPart | null } | null;
}

/** What the views are drawn from, and what they call. */
interface Context {
  form: Form;
  tasks: TaskState;
  ui: PageState;
  drafts: import("./workbench/text_field.js").Drafts;
  actions: Actions;
  /** Shown in the head of a criterion. */
  badge: (criterion: Criterion) => Child;
  /** Shown above the choices of a criterion. */
  introduction: (criterion: Criterion) => Child;
}

/** Answers with a button of their own, by its label. */
type OtherAnswer = "Unanswerable" | "Cannot assess" | "Leave out";

/** What the views call; pages implement it. */
interface Actions {
  goTo(criterion: string): void;
  goToUnit(position: number): void;
  /** Enter. */
  accept(): void;
  acceptAfter(part: "confidence" | "notes"): void;
  /** Escape. */
  leaveField(): void;
  change(criterion: string, changes: Partial<Answer>, typing?: string | null): void;
  pick(value: Value): void;
  moveCursor(cursor: Cursor): void;
  answerWith(label: OtherAnswer): void;
  toggleCitation(span: Span): void;
  chooseEvidence(): void;
  quote(span: Span): string;
}

type KeyAction =
  | "digit" | "accept" | "finish" | "stepCriterion" | "stepUnit" | "undo" | "cannotAssess" | "leaveOut" | "rationale"
  | "notes" | "cite" | "chooseEvidence" | "names" | "back" | "tasks" | "guideline" | "help";

/** What a page does on its keys. */
type KeyActions = Partial<Record<KeyAction, (key: string) => void>>;

// rate/

type TaskQueue = import("./rate/task_queue.js").TaskQueue;

/** Shown if there is no task. `retryAfterMs`: when the page tries again by itself. */
interface EndCard {
  view: ViewNode;
  retryAfterMs: number | null;
}

// manage/

interface RaterActions {
  pause: (rater: string, paused: boolean) => void;
  open: (rater: string) => void;
}

type DefinedPoint = AgreementPoint & { value: number };
