import CoreDataPrimitives
import Foundation
import Synchronization

/// The versions of a model, as a `.xcdatamodeld` or `.momd` holds them; one for a file without versions.
package struct ModelVersions: Sendable {
    /// A version, whose document is read from its file when it is first asked for: of a folder of a hundred versions
    /// most programs need one.
    package struct Version: Sendable {
        /// The version's file name without extension, which the document's name repeats.
        package var name: String
        private var content: LateDocument

        /// What is wrong with it, and with its file, is in its diagnostics.
        package var document: ModelDocument {
            get { content.document }
            set { content = LateDocument(newValue) }
        }

        package init(name: String, document: ModelDocument) {
            self.name = name
            content = LateDocument(document)
        }

        /// - Parameter read: reads the document; called once, and not before it is asked for.
        init(name: String, read: @escaping @Sendable () -> ModelDocument) {
            self.name = name
            content = LateDocument(read)
        }
    }

    /// The model's file name without extension.
    package var name: String
    /// By name, numbers in it as numbers: `Model`, `Model 2`, `Model 10`.
    package var versions: [Version]
    /// The name of the version that applications use.
    package var currentName: String
    /// Whether the file itself says so, even of a single version: a compiled model repeats it.
    package var namesCurrentVersion = false
    /// What is suspicious about the model as a whole; what is wrong with a version is in its document.
    package var diagnostics: [Diagnostic] = []

    package init(name: String, versions: [Version], currentName: String) {
        self.name = name
        self.versions = versions
        self.currentName = currentName
    }

    package var current: ModelDocument? { self[currentName] }

    package subscript(name: String) -> ModelDocument? { versions.first { $0.name == name }?.document }

    /// The version that is current where the model's file does not say so: the first by name, which Xcode makes first;
    /// it marks another as soon as one is chosen. A copy of the folder under another name has the same.
    static func fallback(among names: [String]) -> String? { names.first }
}

/// A document that is read when it is first asked for, once.
private final class LateDocument: Sendable {
    private enum State {
        case unread(@Sendable () -> ModelDocument)
        case read(ModelDocument)
    }

    /// Guards that only one reads the file; the others wait for it.
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
