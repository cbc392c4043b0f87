import CoreData
import Foundation

/// A reference to an object in files and commands: the URI of its ID, or a short form.
///
///     x-coredata://4B0F5331-DE87-4D61-9947-8A976CCEB627/Item/p12
///     Item/p12
///
/// Percent escapes in the entity's name are decoded: `Gr%C3%B6%C3%9Fe/p1` is `Größe/p1`.
package struct ObjectReference: Hashable {
    /// The store's UUID; `nil` in the short form.
    package var store: String?
    package var entity: String
    /// The primary key.
    package var key: Int64

    /// Parses a reference; `nil` if the text is none.
    package init?(_ text: String) {
        let reference: String
        if let uri = ObjectURI(text) {
            store = uri.store.uppercased()
            entity = uri.entity
            reference = uri.reference
        } else {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { return nil }
            entity = ObjectURI.plain(parts[0])
            reference = String(parts[1])
        }
        guard reference.first == "p", let key = Int64(reference.dropFirst()), key > 0,
            !reference.dropFirst().hasPrefix("+")
        else { return nil }
        self.key = key
    }

    package init(store: String?, entity: String, key: Int64) {
        self.store = store
        self.entity = entity
        self.key = key
    }

    /// The reference as text.
    package var text: String { (store.map { "x-coredata://\($0)/" } ?? "") + "\(entity)/p\(key)" }
}
