/// The words of realistic texts.
enum BelievableWords {
    static let firstNames = [
        "Ada", "Alan", "Amara", "Anna", "Ben", "Carla", "Chen", "Clara", "David", "Elif", "Emma", "Felix", "Fatima",
        "Grace", "Hugo", "Ines", "Ivan", "Jonas", "Julia", "Kenji", "Lars", "Lena", "Luis", "Maria", "Mateo", "Mia",
        "Nadia", "Noah", "Olga", "Omar", "Paul", "Priya", "Rosa", "Sam", "Sofia", "Tariq", "Tom", "Vera", "Yara", "Zoe",
    ]
    static let lastNames = [
        "Adams", "Bauer", "Costa", "Dubois", "Ekström", "Fischer", "García", "Haddad", "Ito", "Jansen", "Kaya", "Lopez",
        "Moreau", "Novak", "Okafor", "Petrov", "Quinn", "Rossi", "Silva", "Tanaka", "Ulrich", "Vargas", "Weber", "Xu",
        "Young", "Zhang",
    ]
    static let things = [
        "Apples", "Bread", "Butter", "Candles", "Carrots", "Cheese", "Chocolate", "Coffee", "Eggs", "Flour", "Garlic",
        "Honey", "Jam", "Lemons", "Lentils", "Milk", "Mushrooms", "Noodles", "Olive Oil", "Onions", "Oranges", "Pasta",
        "Pepper", "Potatoes", "Rice", "Salt", "Soap", "Spinach", "Sugar", "Tea", "Tomatoes", "Vinegar", "Walnuts",
        "Yoghurt",
    ]
    static let qualities = [
        "Old", "New", "Fresh", "Red", "Green", "Blue", "Large", "Small", "Quiet", "Bright", "Fine", "Plain", "Sweet",
        "Wild", "White", "Black", "Golden", "Light",
    ]
    static let streets = [
        "Station Road", "Mill Lane", "High Street", "Park Avenue", "Church Street", "Garden Way", "Bridge Street",
        "Harbour Road", "Hill Street", "Market Square",
    ]
    static let cities = [
        "Amsterdam", "Berlin", "Chicago", "Dublin", "Geneva", "Helsinki", "Istanbul", "Kyoto", "Lisbon", "Lyon",
        "Madrid", "Nairobi", "Oslo", "Porto", "Quito", "Rome", "Seoul", "Toronto", "Vienna", "Zagreb",
    ]
    static let countries = [
        "Austria", "Brazil", "Canada", "Finland", "France", "Germany", "Ireland", "Italy", "Japan", "Kenya", "Norway",
        "Portugal", "Spain", "Turkey",
    ]
    static let colours = ["red", "orange", "yellow", "green", "blue", "violet", "white", "grey", "black"]
    static let words = [
        "about", "after", "always", "around", "because", "before", "between", "bring", "clear", "early", "every",
        "finds", "first", "friend", "garden", "house", "little", "makes", "morning", "never", "often", "other", "paper",
        "people", "place", "river", "small", "still", "story", "table", "takes", "things", "today", "under", "water",
        "where", "while", "window", "world", "years",
    ]

    /// Returns a text that suits the words in the attribute's name.
    static func text(named name: String, entity: String, _ numbers: inout SeededNumbers) -> String {
        let name = name.lowercased()
        func has(_ words: String...) -> Bool { words.contains { name.contains($0) } }
        let (first, last) = (numbers.pick(firstNames), numbers.pick(lastNames))
        if has("mail") { return "\(plain(first)).\(plain(last))@example.org" }
        if has("phone", "mobile", "fax") { return "+44 20 7946 0\(100 + numbers.below(900))" }
        if has("firstname", "givenname", "forename") { return first }
        if has("lastname", "surname", "familyname") { return last }
        if has("author", "owner", "person", "friend", "customer", "user", "fullname", "contact") {
            return "\(first) \(last)"
        }
        if has("street", "address") { return "\(1 + numbers.below(120)) \(numbers.pick(streets))" }
        if has("city", "town", "place", "location") { return numbers.pick(cities) }
        if has("country", "nation") { return numbers.pick(countries) }
        if has("zip", "postcode", "postalcode") { return "\(10_000 + numbers.below(89_999))" }
        if has("colour", "color") { return numbers.pick(colours) }
        if has("url", "website", "link") { return "https://example.org/\(numbers.pick(words))" }
        if has("code", "sku", "isbn", "identifier") { return "\(letters(3, &numbers))-\(1000 + numbers.below(9000))" }
        if has("summary", "description", "note", "text", "comment", "body", "content", "remark") {
            return sentence(&numbers)
        }
        if has("name", "title", "label"), isPerson(entity) { return "\(first) \(last)" }
        if has("name", "title", "label") { return "\(numbers.pick(qualities)) \(numbers.pick(things))" }
        return "\(numbers.pick(words)) \(numbers.pick(words))"
    }

    private static func isPerson(_ entity: String) -> Bool {
        let entity = entity.lowercased()
        return ["person", "author", "friend", "customer", "user", "employee", "contact", "member", "artist", "reader"]
            .contains { entity.contains($0) }
    }

    private static func plain(_ name: String) -> String { String(name.lowercased().filter(\.isASCII)) }

    static func letters(_ count: Int, _ numbers: inout SeededNumbers) -> String {
        String((0..<count).map { _ in numbers.pick(Array("ABCDEFGHJKLMNPQRSTUVWXYZ")) })
    }

    private static func sentence(_ numbers: inout SeededNumbers) -> String {
        let text = (0..<(5 + numbers.below(8))).map { _ in numbers.pick(words) }.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst() + "."
    }
}
