import Foundation

/// The content of a list: sections and their items by identifiers, each of which occurs once.
///
///     var snapshot = NSDiffableDataSourceSnapshot<String, UUID>()
///     snapshot.appendSections(["Dairy"])
///     snapshot.appendItems([milk, butter])
///     snapshot.insertItems([cream], beforeItem: butter)
///     snapshot.itemIdentifiers                                // [milk, cream, butter]
///
/// On Apple's platforms it belongs to UIKit and AppKit; here ``NSFetchedResultsControllerDelegate`` receives it.
/// Finding a section or an item's section takes one step; finding an item's index takes one step for each item of its
/// section.
public struct NSDiffableDataSourceSnapshot<SectionIdentifierType: Hashable, ItemIdentifierType: Hashable> {
    var content = SnapshotContent<SectionIdentifierType, ItemIdentifierType>()

    /// Makes a snapshot without sections.
    public init() {}

    /// Creates a snapshot from the one that a delegate received.
    ///
    ///     let snapshot = NSDiffableDataSourceSnapshot<String, NSManagedObjectID>(reference)
    ///
    /// Differs from Apple: there, `reference as NSDiffableDataSourceSnapshot<…>` does it. Off Apple's platforms a cast
    /// cannot convert a class to a structure.
    ///
    /// - Precondition: the identifiers are of these types.
    public init(_ reference: NSDiffableDataSourceSnapshotReference) {
        func cast<T>(_ identifier: AnyHashable, _ type: T.Type) -> T {
            guard let value = identifier.base as? T else {
                preconditionFailure(
                    "The snapshot's identifier '\(identifier)' is a \(Swift.type(of: identifier.base)), no \(T.self).")
            }
            return value
        }
        content = reference.content.map(
            { cast($0, SectionIdentifierType.self) }, { cast($0, ItemIdentifierType.self) })
    }

    // MARK: What there is

    /// How many items there are in all sections.
    public var numberOfItems: Int { content.itemCount }
    /// How many sections there are.
    public var numberOfSections: Int { content.sections.count }
    /// The sections in order.
    public var sectionIdentifiers: [SectionIdentifierType] { content.sections }
    /// The items of all sections in order.
    public var itemIdentifiers: [ItemIdentifierType] { content.allItems }
    /// The sections that were marked by `reloadSections(_:)`.
    public var reloadedSectionIdentifiers: [SectionIdentifierType] { content.reloadedSections }
    /// The items that were marked by `reloadItems(_:)`, and those that a controller reports as changed.
    public var reloadedItemIdentifiers: [ItemIdentifierType] { content.reloadedItems }
    /// The items that were marked by `reconfigureItems(_:)`.
    public var reconfiguredItemIdentifiers: [ItemIdentifierType] { content.reconfiguredItems }

    /// - Precondition: the section exists.
    public func numberOfItems(inSection identifier: SectionIdentifierType) -> Int {
        content.items(of: identifier).count
    }

    /// - Precondition: the section exists.
    public func itemIdentifiers(inSection identifier: SectionIdentifierType) -> [ItemIdentifierType] {
        content.items(of: identifier)
    }

    /// The section that has the item; `nil` where none has.
    public func sectionIdentifier(containingItem identifier: ItemIdentifierType) -> SectionIdentifierType? {
        content.section(of: identifier)
    }

    /// The item's place among all items.
    public func indexOfItem(_ identifier: ItemIdentifierType) -> Int? { content.itemIndex(of: identifier) }
    /// The section's place among the sections.
    public func indexOfSection(_ identifier: SectionIdentifierType) -> Int? { content.sectionIndex(of: identifier) }

    // MARK: Items

    /// Appends items to a section; to the last one if no name is given.
    ///
    /// - Precondition: none of the items exists yet, and there is a section.
    public mutating func appendItems(
        _ identifiers: [ItemIdentifierType], toSection sectionIdentifier: SectionIdentifierType? = nil
    ) {
        content.append(identifiers, to: sectionIdentifier)
    }

    /// Inserts items before another, in its section.
    public mutating func insertItems(
        _ identifiers: [ItemIdentifierType], beforeItem beforeIdentifier: ItemIdentifierType
    ) {
        content.insert(identifiers, beside: beforeIdentifier, after: false)
    }

    /// Inserts items after another, in its section.
    public mutating func insertItems(_ identifiers: [ItemIdentifierType], afterItem afterIdentifier: ItemIdentifierType)
    {
        content.insert(identifiers, beside: afterIdentifier, after: true)
    }

    /// Removes the items that exist.
    public mutating func deleteItems(_ identifiers: [ItemIdentifierType]) { content.delete(identifiers) }

    /// Takes out every item, and every section.
    public mutating func deleteAllItems() { content.deleteAll() }

    /// Moves an item before another, into its section.
    public mutating func moveItem(
        _ identifier: ItemIdentifierType, beforeItem toIdentifier: ItemIdentifierType
    ) {
        content.move(identifier, beside: toIdentifier, after: false)
    }

    /// Moves an item after another, into its section.
    public mutating func moveItem(_ identifier: ItemIdentifierType, afterItem toIdentifier: ItemIdentifierType) {
        content.move(identifier, beside: toIdentifier, after: true)
    }

    /// Marks items to be shown anew.
    public mutating func reloadItems(_ identifiers: [ItemIdentifierType]) { content.reload(identifiers) }
    /// Marks items to be shown anew in what shows them already.
    public mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) { content.reconfigure(identifiers) }

    // MARK: Sections

    /// - Precondition: none of the sections exists yet.
    public mutating func appendSections(_ identifiers: [SectionIdentifierType]) { content.appendSections(identifiers) }

    /// Inserts sections before another.
    public mutating func insertSections(
        _ identifiers: [SectionIdentifierType], beforeSection toIdentifier: SectionIdentifierType
    ) {
        content.insertSections(identifiers, beside: toIdentifier, after: false)
    }

    /// Inserts sections after another.
    public mutating func insertSections(
        _ identifiers: [SectionIdentifierType], afterSection toIdentifier: SectionIdentifierType
    ) {
        content.insertSections(identifiers, beside: toIdentifier, after: true)
    }

    /// Removes the sections that exist, with their items.
    public mutating func deleteSections(_ identifiers: [SectionIdentifierType]) { content.deleteSections(identifiers) }

    /// Moves a section, with its items, before another.
    public mutating func moveSection(
        _ identifier: SectionIdentifierType, beforeSection toIdentifier: SectionIdentifierType
    ) {
        content.moveSection(identifier, beside: toIdentifier, after: false)
    }

    /// Moves a section, with its items, after another.
    public mutating func moveSection(
        _ identifier: SectionIdentifierType, afterSection toIdentifier: SectionIdentifierType
    ) {
        content.moveSection(identifier, beside: toIdentifier, after: true)
    }

    /// Marks sections to be shown anew.
    public mutating func reloadSections(_ identifiers: [SectionIdentifierType]) { content.reloadSections(identifiers) }
}

extension NSDiffableDataSourceSnapshot: Sendable where SectionIdentifierType: Sendable, ItemIdentifierType: Sendable {}
