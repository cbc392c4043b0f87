import Foundation

/// The stored properties of a struct, with the keys under which its decoder asks for them.
///
/// The decoder is given made-up values and notes what it is asked for; the properties' names and types are those of the
/// value that comes out of it. So names are those of the source, whatever the coding keys are.
struct StructLayout {
    struct Member {
        /// The name of the stored property.
        let name: String
        let type: Any.Type
        /// The coding key's text.
        let key: String
    }

    /// In the order of the source.
    let members: [Member]
    /// The value from which the layout was learned.
    let sample: Any

    /// The layout; `nil` for a type whose decoder asks for anything but its stored properties by key.
    static func of<T: Codable>(_ type: T.Type, defaultValue: Any?) -> StructLayout? {
        let recording = LayoutRecording()
        if let sample = try? T(from: RecordingDecoder(recording)) {
            return recording.isOpaque ? nil : layout(of: sample, keys: recording.keys, isMadeUp: true)
        }
        // A decoder that refuses made-up values. The default value is a right one.
        guard !recording.isOpaque, let sample = defaultValue as? T else { return nil }
        let keys = KeyRecordingEncoder()
        guard (try? sample.encode(to: keys)) != nil, !keys.isOpaque else { return nil }
        // Keys of values that are nil, which the encoder does not see, are those that the decoder asked for.
        let missing = recording.keys.filter { key in !keys.keys.contains { $0.name == key.name } }
        return layout(of: sample, keys: keys.keys + missing, isMadeUp: false)
    }

    private static func layout<T: Codable>(
        of sample: T, keys: [(name: String, type: Any.Type?)], isMadeUp: Bool
    ) -> StructLayout? {
        let properties = Mirror(reflecting: sample).children.compactMap { child in
            child.label.map { (name: Self.name($0), type: Swift.type(of: child.value)) }
        }
        guard !keys.isEmpty, Set(properties.map(\.name)).count == properties.count else { return nil }
        var keyByName: [String: (name: String, type: Any.Type?)] = [:]
        var unnamed: [(name: String, type: Any.Type?)] = []
        for key in keys {
            if properties.contains(where: { $0.name == key.name }) {
                keyByName[key.name] = key
            } else {
                unnamed.append(key)
            }
        }
        // Keys that are not called as their properties are.
        for key in unnamed {
            guard isMadeUp, let changed = changed(by: key.name, in: sample),
                properties.contains(where: { $0.name == changed }), keyByName[changed] == nil
            else { return nil }
            keyByName[changed] = key
        }
        var members: [Member] = []
        for property in properties {
            // A property that is not coded has no column.
            guard let key = keyByName[property.name] else { continue }
            let bare = (property.type as? any OptionalType.Type)?.wrappedType ?? property.type
            if let asked = key.type, asked != bare, asked != property.type { return nil }
            members.append(Member(name: property.name, type: property.type, key: key.name))
        }
        return StructLayout(members: members, sample: sample)
    }

    /// The property's name: those of property wrappers and lazy properties have something before it.
    private static func name(_ label: String) -> String {
        if label.hasPrefix("$__lazy_storage_$_") { return String(label.dropFirst(18)) }
        return label.hasPrefix("_") ? String(label.dropFirst()) : label
    }

    /// The one property that changes where another value is given for a key.
    private static func changed<T: Codable>(by key: String, in sample: T) -> String? {
        guard let other = try? T(from: RecordingDecoder(LayoutRecording(), exception: key)) else { return nil }
        let pairs = zip(Mirror(reflecting: sample).children, Mirror(reflecting: other).children)
        let changed = pairs.filter { String(reflecting: $0.0.value) != String(reflecting: $0.1.value) }
        guard changed.count == 1, let label = changed[0].0.label else { return nil }
        return name(label)
    }
}
