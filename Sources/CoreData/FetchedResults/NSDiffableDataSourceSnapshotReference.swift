import Foundation

/// A snapshot whose identifiers are of any type: what a fetched results controller gives its delegate.
///
/// Of a controller, sections are identified by their names and items by their `NSManagedObjectID`s;
/// ``NSDiffableDataSourceSnapshot/init(_:)`` gives them their types back.
public class NSDiffableDataSourceSnapshotReference: NSObject, NSCopying {
    private enum State {
        case waiting(() -> SnapshotContent<AnyHashable, AnyHashable>)
        case made(SnapshotContent<AnyHashable, AnyHashable>)
    }

    private var state: State

    /// Makes a snapshot without sections.
    public override init() { state = .made(SnapshotContent()) }

    /// Makes a snapshot of what is worked out when somebody asks.
    init(_ content: @escaping () -> SnapshotContent<AnyHashable, AnyHashable>) { state = .waiting(content) }

    var content: SnapshotContent<AnyHashable, AnyHashable> {
        get {
            resolve()
            guard case .made(let content) = state else { return SnapshotContent() }
            return content
        }
        set { state = .made(newValue) }
    }

    /// Works out the content now, if somebody still has the snapshot.
    func resolve() {
        if case .waiting(let make) = state { state = .made(make()) }
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSDiffableDataSourceSnapshotReference()
        copy.content = content
        return copy
    }

    private func hashed(_ identifier: Any) -> AnyHashable {
        guard let hashable = identifier as? AnyHashable else {
            preconditionFailure("A snapshot's identifiers must be hashable; \(type(of: identifier)) is not.")
        }
        return hashable
    }

    private func hashed(_ identifiers: [Any]) -> [AnyHashable] { identifiers.map { hashed($0) } }

    // MARK: What there is

    public var numberOfItems: Int { content.itemCount }
    public var numberOfSections: Int { content.sections.count }
    public var sectionIdentifiers: [Any] { content.sections.map(\.base) }
    public var itemIdentifiers: [Any] { content.allItems.map(\.base) }
    public var reloadedSectionIdentifiers: [Any] { content.reloadedSections.map(\.base) }
    public var reloadedItemIdentifiers: [Any] { content.reloadedItems.map(\.base) }
    public var reconfiguredItemIdentifiers: [Any] { content.reconfiguredItems.map(\.base) }

    public func numberOfItems(inSection sectionIdentifier: Any) -> Int {
        content.items(of: hashed(sectionIdentifier)).count
    }

    public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
        content.items(of: hashed(sectionIdentifier)).map(\.base)
    }

    public func sectionIdentifierForSection(containingItemIdentifier itemIdentifier: Any) -> Any? {
        content.section(of: hashed(itemIdentifier))?.base
    }

    /// The item's place among all items; `NSNotFound` where it is not there.
    public func index(ofItemIdentifier itemIdentifier: Any) -> Int {
        content.itemIndex(of: hashed(itemIdentifier)) ?? NSNotFound
    }

    /// The section's place; `NSNotFound` where it is not there.
    public func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
        content.sectionIndex(of: hashed(sectionIdentifier)) ?? NSNotFound
    }

    // MARK: Items

    public func appendItems(withIdentifiers identifiers: [Any]) { content.append(hashed(identifiers), to: nil) }

    public func appendItems(withIdentifiers identifiers: [Any], intoSectionWithIdentifier sectionIdentifier: Any) {
        content.append(hashed(identifiers), to: hashed(sectionIdentifier))
    }

    public func insertItems(withIdentifiers identifiers: [Any], beforeItemWithIdentifier itemIdentifier: Any) {
        content.insert(hashed(identifiers), beside: hashed(itemIdentifier), after: false)
    }

    public func insertItems(withIdentifiers identifiers: [Any], afterItemWithIdentifier itemIdentifier: Any) {
        content.insert(hashed(identifiers), beside: hashed(itemIdentifier), after: true)
    }

    public func deleteItems(withIdentifiers identifiers: [Any]) { content.delete(hashed(identifiers)) }
    public func deleteAllItems() { content.deleteAll() }

    public func moveItem(withIdentifier fromIdentifier: Any, beforeItemWithIdentifier toIdentifier: Any) {
        content.move(hashed(fromIdentifier), beside: hashed(toIdentifier), after: false)
    }

    public func moveItem(withIdentifier fromIdentifier: Any, afterItemWithIdentifier toIdentifier: Any) {
        content.move(hashed(fromIdentifier), beside: hashed(toIdentifier), after: true)
    }

    public func reloadItems(withIdentifiers identifiers: [Any]) { content.reload(hashed(identifiers)) }
    public func reconfigureItems(withIdentifiers identifiers: [Any]) { content.reconfigure(hashed(identifiers)) }

    // MARK: Sections

    public func appendSections(withIdentifiers sectionIdentifiers: [Any]) {
        content.appendSections(hashed(sectionIdentifiers))
    }

    public func insertSections(
        withIdentifiers sectionIdentifiers: [Any], beforeSectionWithIdentifier toSectionIdentifier: Any
    ) {
        content.insertSections(hashed(sectionIdentifiers), beside: hashed(toSectionIdentifier), after: false)
    }

    public func insertSections(
        withIdentifiers sectionIdentifiers: [Any], afterSectionWithIdentifier toSectionIdentifier: Any
    ) {
        content.insertSections(hashed(sectionIdentifiers), beside: hashed(toSectionIdentifier), after: true)
    }

    public func deleteSections(withIdentifiers sectionIdentifiers: [Any]) {
        content.deleteSections(hashed(sectionIdentifiers))
    }

    public func moveSection(
        withIdentifier fromSectionIdentifier: Any, beforeSectionWithIdentifier toSectionIdentifier: Any
    ) {
        content.moveSection(hashed(fromSectionIdentifier), beside: hashed(toSectionIdentifier), after: false)
    }

    public func moveSection(
        withIdentifier fromSectionIdentifier: Any, afterSectionWithIdentifier toSectionIdentifier: Any
    ) {
        content.moveSection(hashed(fromSectionIdentifier), beside: hashed(toSectionIdentifier), after: true)
    }

    public func reloadSections(withIdentifiers sectionIdentifiers: [Any]) {
        content.reloadSections(hashed(sectionIdentifiers))
    }
}
