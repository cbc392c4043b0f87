import CoreDataPrimitives

/// A rewritten place of a source.
package struct PortChange: Hashable, Sendable {
    /// The reason for the change.
    package enum Kind: String, CaseIterable, Sendable {
        case objectiveCAttribute = "Objective-C attributes removed"
        case classBoundProtocol = "Objective-C protocols bound to classes"
        case keyPath = "#keyPath to a string"
        case selector = "#selector to a method or a name"
        case selectorName = "names of selectors to strings"
        case requestCast = "casts of fetch requests to calls"
        case moduleName = "names of modules dropped"
        case archiveName = "names of classes in archives"
        case requiredInitialiser = "initialisers made required"
        case addedInitialiser = "required initialisers added"
        case movedOverride = "overrides moved from an extension into the class"
        case conditionalImport = "imports made conditional"
        case addedImport = "imports added"
        case moduleImport = "imports of a submodule widened"
        case leftOut = "declarations left out"

        /// The kind as an identifier for programs: `keyPath`.
        package var identifier: String { "\(self)" }
    }

    package var kind: Kind
    package var location: SourceLocation
    /// The original text; empty for an insertion.
    package var before: String
    /// The new text; empty for a removal.
    package var after: String

    /// The change as a line of text.
    package var summary: String {
        let before = Self.oneLine(self.before)
        let after = Self.oneLine(self.after)
        switch (before.isEmpty, after.isEmpty) {
        case (false, true): return "removed \(before)"
        case (true, false): return "added \(after)"
        default:
            if kind == .leftOut { return "left out \(before)" }
            return kind == .movedOverride ? "moved \(before) into the class" : "\(before) -> \(after)"
        }
    }

    private static func oneLine(_ text: String) -> String {
        let words = text.split { $0 == " " || $0.isNewline || $0 == "\t" }.joined(separator: " ")
        return words.count > 80 ? words.prefix(77) + "..." : words
    }
}
