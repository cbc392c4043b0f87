import Foundation

/// A snapshot with identifiers of any type, which a fetched results controller passes to its delegate.
///
/// A controller identifies sections by their names and items by their `NSManagedObjectID`s;
/// ``NSDiffableDataSourceSnapshot/init(_:)`` restores their types.
public class NSDiffableDataSourceSnapshotReference: NSObject, NSCopying {
    private enum State {
        case waiting(() -> SnapshotContent<AnyHashable, AnyHashable>)
        case made(SnapshotContent<AnyHashable, AnyHashable>)
    }

    private var state: State

    /// Makes a snapshot without sections.
    public override init() { state = .made(SnapshotContent()) }

    /// Creates a snapshot whose content is computed at the first access.
    init(_ content: @escaping () -> SnapshotContent<AnyHashable, AnyHashable>) { state = .waiting(content) }

    var content: SnapshotContent<AnyHashable, AnyHashable> {
        get {
            resolve()
            guard case .made(let content) = state else { return SnapshotContent() }
            return content
        }
        set { state = .made(newValue) }
    }

    /// Computes the content now, if the snapshot is still in use.
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

    /// How many items there are in all sections.
    public var numberOfItems: Int { content.itemCount }
    /// How many sections there are.
    public var numberOfSections: Int { content.sections.count }
    /// The sections in their order.
    public var sectionIdentifiers: [Any] { content.sections.map(\.base) }
    /// The items of all sections in their order.
    public var itemIdentifiers: [Any] { content.allItems.map(\.base) }
    /// The sections that were reloaded.
    public var reloadedSectionIdentifiers: [Any] { content.reloadedSections.map(\.base) }
    /// The items that were reloaded.
    public var reloadedItemIdentifiers: [Any] { content.reloadedItems.map(\.base) }
    /// The items that were reconfigured.
    public var reconfiguredItemIdentifiers: [Any] { content.reconfiguredItems.map(\.base) }

    /// How many items the section has.
    public func numberOfItems(inSection sectionIdentifier: Any) -> Int {
        content.items(of: hashed(sectionIdentifier)).count
    }

    /// The items of the section in their order.
    public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
        content.items(of: hashed(sectionIdentifier)).map(\.base)
    }

    /// The section that has the item; `nil` where none has.
    public func sectionIdentifierForSection(containingItemIdentifier itemIdentifier: Any) -> Any? {
        content.section(of: hashed(itemIdentifier))?.base
    }

    /// Returns the item's index among all items; `NSNotFound` if it does not exist.
    public func index(ofItemIdentifier itemIdentifier: Any) -> Int {
        content.itemIndex(of: hashed(itemIdentifier)) ?? NSNotFound
    }

    /// Returns the section's index; `NSNotFound` if it does not exist.
    public func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
        content.sectionIndex(of: hashed(sectionIdentifier)) ?? NSNotFound
    }

    // MARK: Items

    /// Appends items to the last section.
    public func appendItems(withIdentifiers identifiers: [Any]) { content.append(hashed(identifiers), to: nil) }

    /// Appends items to the section.
    public func appendItems(withIdentifiers identifiers: [Any], intoSectionWithIdentifier sectionIdentifier: Any) {
        content.append(hashed(identifiers), to: hashed(sectionIdentifier))
    }

    /// Inserts items before another, in its section.
    public func insertItems(withIdentifiers identifiers: [Any], beforeItemWithIdentifier itemIdentifier: Any) {
        content.insert(hashed(identifiers), beside: hashed(itemIdentifier), after: false)
    }

    /// Inserts items after another, in its section.
    public func insertItems(withIdentifiers identifiers: [Any], afterItemWithIdentifier itemIdentifier: Any) {
        content.insert(hashed(identifiers), beside: hashed(itemIdentifier), after: true)
    }

    /// Takes the items away.
    public func deleteItems(withIdentifiers identifiers: [Any]) { content.delete(hashed(identifiers)) }
    /// Takes all items and sections away.
    public func deleteAllItems() { content.deleteAll() }

    /// Moves an item before another, into its section.
    public func moveItem(withIdentifier fromIdentifier: Any, beforeItemWithIdentifier toIdentifier: Any) {
        content.move(hashed(fromIdentifier), beside: hashed(toIdentifier), after: false)
    }

    /// Moves an item after another, into its section.
    public func moveItem(withIdentifier fromIdentifier: Any, afterItemWithIdentifier toIdentifier: Any) {
        content.move(hashed(fromIdentifier), beside: hashed(toIdentifier), after: true)
    }

    /// Notes that the items are to be shown anew.
    public func reloadItems(withIdentifiers identifiers: [Any]) { content.reload(hashed(identifiers)) }
    /// Notes that the cells of the items are to be filled anew.
    public func reconfigureItems(withIdentifiers identifiers: [Any]) { content.reconfigure(hashed(identifiers)) }

    // MARK: Sections

    /// Appends sections without items.
    public func appendSections(withIdentifiers sectionIdentifiers: [Any]) {
        content.appendSections(hashed(sectionIdentifiers))
    }

    /// Inserts sections before another.
    public func insertSections(
        withIdentifiers sectionIdentifiers: [Any], beforeSectionWithIdentifier toSectionIdentifier: Any
    ) {
        content.insertSections(hashed(sectionIdentifiers), beside: hashed(toSectionIdentifier), after: false)
    }

    /// Inserts sections after another.
    public func insertSections(
        withIdentifiers sectionIdentifiers: [Any], afterSectionWithIdentifier toSectionIdentifier: Any
    ) {
        content.insertSections(hashed(sectionIdentifiers), beside: hashed(toSectionIdentifier), after: true)
    }

    /// Takes the sections away, with their items.
    public func deleteSections(withIdentifiers sectionIdentifiers: [Any]) {
        content.deleteSections(hashed(sectionIdentifiers))
    }

    /// Moves a section, with its items, before another.
    public func moveSection(
        withIdentifier fromSectionIdentifier: Any, beforeSectionWithIdentifier toSectionIdentifier: Any
    ) {
        content.moveSection(hashed(fromSectionIdentifier), beside: hashed(toSectionIdentifier), after: false)
    }

    /// Moves a section, with its items, after another.
    public func moveSection(
        withIdentifier fromSectionIdentifier: Any, afterSectionWithIdentifier toSectionIdentifier: Any
    ) {
        content.moveSection(hashed(fromSectionIdentifier), beside: hashed(toSectionIdentifier), after: true)
    }

    /// Notes that the sections are to be shown anew.
    public func reloadSections(withIdentifiers sectionIdentifiers: [Any]) {
        content.reloadSections(hashed(sectionIdentifiers))
    }
}
