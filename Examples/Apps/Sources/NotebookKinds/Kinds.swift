/// How its writer felt about a note.
public enum Mood: Int16, CaseIterable, Sendable {
    case calm, merry, cross
}

/// The states of a note, as a namespace of what apps share.
public enum Workflow {
    public enum Status: String, Sendable {
        case draft, published
    }
}
