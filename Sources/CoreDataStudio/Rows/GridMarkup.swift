/// The table of a page's rows.
struct GridMarkup: Sendable {
    let grid: Grid
    let query: RowQuery

    var html: HTML {
        """
        <div class="scroll tall" tabindex=0 role=region aria-label="Objects of \(query.entity)"><table class=grid>
        <thead><tr><th scope=col>ID</th>\(grid.columns.map(header))</thead>
        <tbody>\(grid.rows.map(row))</tbody></table></div>
        """
    }

    private func header(_ column: Grid.Column) -> HTML {
        let isSorted = query.sort == column.name
        var sort: HTML = ""
        var mark: HTML = ""
        if isSorted {
            sort = query.isDescending ? " aria-sort=descending" : " aria-sort=ascending"
            mark = query.isDescending ? " ↓" : " ↑"
        }
        let title: HTML =
            column.isSortable
            ? "<a href=\"\(query.sorted(by: column.name).address())\">\(column.name)\(mark)</a>" : "\(column.name)"
        let facets: HTML =
            column.hasFacets
            ? " <a href=\"\(query.at(.first).address("facets").with("column", column.name))\" data-beside>values</a>"
            : ""
        let kind: HTML = column.isNumber ? " class=number" : ""
        return "<th scope=col\(kind)\(sort)>\(title)<small>\(column.type)\(facets)</small></th>"
    }

    private func row(_ row: Grid.Row) -> HTML {
        let cells = zip(grid.columns, row.cells).map { column, cell -> HTML in
            let kind: HTML = column.isNumber ? " class=number" : ""
            return "<td\(kind)>\(Self.content(cell, of: row.link))</td>"
        }
        return """
            <tr data-row="\(row.link.reference)"><th scope=row><a href="\(row.link.address)" data-beside>p\
            \(String(row.link.key))</a></th>\(cells)</tr>

            """
    }

    private static func content(_ cell: Grid.Cell, of link: ObjectLink) -> HTML {
        switch cell {
        case .value(let value, let attribute): value.cell(at: ValueAddress.of(link, attribute))
        case .object(let object?): object.chip
        case .object(nil): "<span class=null>nil</span>"
        case .members(0?, _): "<span class=null>none</span>"
        case .members(let count, let address):
            "<a class=chip href=\"\(address)\">\(count.map { GroupedNumber.text($0) } ?? "show")</a>"
        }
    }
}

/// The address of an attribute's stored bytes.
enum ValueAddress {
    static func of(_ link: ObjectLink, _ attribute: String) -> Address {
        Address("store", "value", link.entity, "p\(link.key)", attribute)
    }
}
