import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// How the elements of a batch insert's tuples get into rows: found out once for a request.
struct BatchColumns {
    private enum Action {
        case text(column: Int)
        case number(column: Int, TypedField.Kind, AccessKind, isSingle: Bool)
        case date(column: Int)
        /// As a dictionary's value.
        case other((UnsafeRawPointer) -> Any?)
        case id(isOptional: Bool)
    }

    private struct Column {
        let slot: Int
        let column: Int
        let name: String
        let offset: Int
        let isOptional: Bool
        let action: Action
    }

    private let columns: [Column]
    private let entity: EntityRuntime

    init(_ source: BatchRowSource, _ entity: EntityRuntime) throws {
        self.entity = entity
        columns = try zip(source.names, source.shape.elements).map { name, element in
            let keys = name.split(separator: ".").map(String.init)
            guard let (slot, rest) = entity.slot(at: keys[...]) else {
                throw CoreDataErrors.invalidRequest(
                    "A batch insert of '\(entity.name)' cannot set '\(name)': it is no property of the entity, which has "
                        + entity.slots.map(\.name).joined(separator: ", ") + ".")
            }
            let column = Int(entity.facts[slot].column)
            guard column >= 0 else {
                throw CoreDataErrors.invalidRequest(
                    "A batch insert cannot set '\(entity.slots[slot].name)' of entity '\(entity.name)', which is "
                        + (entity.slots[slot].isToMany ? "a to-many relationship." : "kept in no column."))
            }
            let (kind, isOptional) = element.type.fieldKind
            let action =
                rest.isEmpty
                ? Self.action(kind, entity, slot, column) ?? .other(element.type.reader)
                : element.type.isOptionalID.map { .id(isOptional: $0) } ?? .other(element.type.reader)
            return Column(
                slot: slot, column: column, name: name, offset: element.offset, isOptional: isOptional, action: action)
        }
    }

    private static func action(
        _ kind: TypedField.Kind, _ entity: EntityRuntime, _ slot: Int, _ column: Int
    ) -> Action? {
        let access = entity.kinds[slot]
        switch (kind, access.plainKind) {
        case (.text, .text): return .text(column: column)
        case (.date, .date): return .date(column: column)
        case (.flag, .boolean), (.short, .integer), (.medium, .integer), (.long, .integer), (.single, .single),
            (.real, .real), (.real, .single), (.single, .real):
            return .number(column: column, kind, access, isSingle: access == .single)
        default: return nil
        }
    }

    /// Puts the elements of a row into the row in the making.
    @inline(__always)
    func read(_ row: UnsafeRawPointer, into rows: BatchRows, _ builder: RowBuilder) throws {
        for column in columns {
            let place = row + column.offset
            let isThere: Bool
            switch column.action {
            case .text(let target): isThere = Self.text(place, target, column.isOptional, builder)
            case .number(let target, let kind, let access, let isSingle):
                isThere = try number(place, target, kind, access, isSingle, column, rows, builder)
            case .date(let target): isThere = try date(place, target, column, rows, builder)
            case .id(let isOptional):
                try rows.give(Self.id(place, isOptional), column.slot)
                continue
            case .other(let read):
                try rows.give(read(place), column.name, column.slot)
                continue
            }
            if isThere { rows.note(column.column) } else { rows.giveNil(column.slot) }
        }
    }

    @inline(__always)
    private func date(
        _ place: UnsafeRawPointer, _ target: Int, _ column: Column, _ rows: BatchRows, _ builder: RowBuilder
    ) throws -> Bool {
        guard let date = Self.value(place, Date.self, column.isOptional) else { return false }
        let seconds = date.timeIntervalSinceReferenceDate
        if seconds.isNaN { throw rows.notANumber(column.slot) }
        builder.setReal(seconds, at: target)
        return true
    }

    @inline(__always)
    private static func value<T>(_ place: UnsafeRawPointer, _ type: T.Type, _ isOptional: Bool) -> T? {
        isOptional
            ? place.assumingMemoryBound(to: T?.self).pointee : place.assumingMemoryBound(to: T.self).pointee
    }

    /// Of whatever class the object is, its ID is in memory the same.
    @inline(__always)
    private static func id(_ place: UnsafeRawPointer, _ isOptional: Bool) -> NSManagedObjectID? {
        isOptional
            ? place.assumingMemoryBound(to: PersistentID<NSManagedObject>?.self).pointee?.knownID
            : place.assumingMemoryBound(to: PersistentID<NSManagedObject>.self).pointee.knownID
    }

    @inline(__always)
    private static func text(
        _ place: UnsafeRawPointer, _ column: Int, _ isOptional: Bool, _ builder: RowBuilder
    ) -> Bool {
        guard let text = value(place, String.self, isOptional) else { return false }
        builder.setText(text, at: column)
        return true
    }

    @inline(__always)
    private func number(
        _ place: UnsafeRawPointer, _ target: Int, _ kind: TypedField.Kind, _ access: AccessKind, _ isSingle: Bool,
        _ column: Column, _ rows: BatchRows, _ builder: RowBuilder
    ) throws -> Bool {
        let isOptional = column.isOptional
        let whole: Int64?
        switch kind {
        case .flag: whole = Self.value(place, Bool.self, isOptional).map { $0 ? 1 : 0 }
        case .short: whole = Self.value(place, Int16.self, isOptional).map { Int64($0) }
        case .medium: whole = Self.value(place, Int32.self, isOptional).map { Int64($0) }
        case .long: whole = Self.value(place, Int64.self, isOptional)
        default:
            let real =
                kind == .single
                ? Self.value(place, Float.self, isOptional).map { Double($0) }
                : Self.value(place, Double.self, isOptional).map { isSingle ? Double(Float($0)) : $0 }
            guard let real else { return false }
            if real.isNaN { throw rows.notANumber(column.slot) }
            builder.setReal(real, at: target)
            return true
        }
        guard let whole else { return false }
        if !access.holds(whole) { throw rows.tooLarge(whole, column.slot) }
        builder.setInteger(whole, at: target)
        return true
    }
}

extension FetchedValue {
    /// Reads a value of the type as a dictionary would have it: an enumeration's raw value, nothing for nil.
    fileprivate static var reader: (UnsafeRawPointer) -> Any? {
        { place in BatchColumns.plain(place.assumingMemoryBound(to: Self.self).pointee) }
    }

    /// Whether it is a ``PersistentID`` or an optional one; `nil` for anything else.
    fileprivate static var isOptionalID: Bool? {
        if Self.self is any TypedObjectID.Type { return false }
        let wrapped = ((Self.self as Any.Type) as? any OptionalValue.Type)?.wrappedType
        return wrapped is any TypedObjectID.Type ? true : nil
    }
}

extension BatchColumns {
    fileprivate static func plain(_ value: Any) -> Any? {
        if let optional = value as? any OptionalValue {
            guard let wrapped = optional.unwrapped else { return nil }
            return plain(wrapped)
        }
        if let raw = value as? any RawRepresentable { return raw.rawValue }
        return value
    }
}
