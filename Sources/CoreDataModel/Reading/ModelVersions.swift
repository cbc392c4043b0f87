import CoreDataPrimitives
import Foundation
import Synchronization

/// The versions of a model in a `.xcdatamodeld` or `.momd`; one version for a file without versions.
package struct ModelVersions: Sendable {
    /// A version whose document is read from its file on first use: of a folder with a hundred versions, most programs
    /// need only one.
    package struct Version: Sendable {
        /// The version's file name without extension; the document has the same name.
        package var name: String
        private var content: LazyDocument

        /// The model; its diagnostics contain all errors of the version and its file.
        package var document: ModelDocument {
            get { content.document }
            set { content = LazyDocument(newValue) }
        }

        package init(name: String, document: ModelDocument) {
            self.name = name
            content = LazyDocument(document)
        }

        /// - Parameter read: reads the document; called at most once, on first use.
        init(name: String, read: @escaping @Sendable () -> ModelDocument) {
            self.name = name
            content = LazyDocument(read)
        }
    }

    /// The model's file name without extension.
    package var name: String
    /// Sorted by name, with numbers by value: `Model`, `Model 2`, `Model 10`.
    package var versions: [Version]
    /// The name of the version that applications use.
    package var currentName: String
    /// Whether the file names the current version, even for a single version: a compiled model then names it too.
    package var namesCurrentVersion = false
    /// Warnings about the model as a whole; problems of a version are in its document.
    package var diagnostics: [Diagnostic] = []

    package init(name: String, versions: [Version], currentName: String) {
        self.name = name
        self.versions = versions
        self.currentName = currentName
    }

    package var current: ModelDocument? { self[currentName] }

    package subscript(name: String) -> ModelDocument? { versions.first { $0.name == name }?.document }

    /// Returns the current version of a model whose file does not name one: the first by name, which Xcode made first.
    /// Xcode names the current version as soon as the developer selects another. A renamed copy of the folder has the
    /// same fallback.
    static func fallback(among names: [String]) -> String? { names.first }
}

/// A document that is read once, on first use.
private final class LazyDocument: Sendable {
    private enum State {
        case unread(@Sendable () -> ModelDocument)
        case read(ModelDocument)
    }

    /// Ensures that one thread reads the file; others wait for it.
    private let state: Mutex<State>

    init(_ document: ModelDocument) { state = Mutex(.read(document)) }

    init(_ read: @escaping @Sendable () -> ModelDocument) { state = Mutex(.unread(read)) }

    var document: ModelDocument {
        state.withLock { state in
            switch state {
            case .read(let document): return document
            case .unread(let read):
                let document = read()
                state = .read(document)
                return document
            }
        }
    }
}
