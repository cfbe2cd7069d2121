//! A place in a document.

use super::{Json, escape_pointer};

/// A value of a document, or the place where one is missing, and how to point at it.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    value: Option<&'a Json>,
    pointer: String,
}

impl<'a> Node<'a> {
    /// The whole document.
    #[must_use]
    pub fn root(value: &'a Json) -> Self {
        Self { value: Some(value), pointer: String::new() }
    }

    /// The value here; `null` is as good as none.
    #[must_use]
    pub fn value(&self) -> Option<&'a Json> {
        self.value.filter(|value| **value != Json::Null)
    }

    /// The JSON pointer (RFC 6901) to here.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Whether there is anything here.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.value().is_some()
    }

    /// What stands at that JSON pointer under here. In an array, a step is an index.
    #[must_use]
    pub fn at(&self, path: &str) -> Node<'a> {
        path.split('/').skip(1).fold(self.clone(), |node, step| {
            let name = step.replace("~1", "/").replace("~0", "~");
            let value = match node.value {
                Some(Json::Object(members)) => members.get(&name),
                Some(Json::Array(items)) => name.parse().ok().and_then(|index: usize| items.get(index)),
                _ => None,
            };
            Node { value, pointer: format!("{}/{step}", node.pointer) }
        })
    }

    /// The member of that name, whatever characters the name has.
    #[must_use]
    pub fn member(&self, name: &str) -> Node<'a> {
        self.at(&format!("/{}", escape_pointer(name)))
    }

    /// The first of these places that holds something; the first of them if none does.
    #[must_use]
    pub fn first_of(&self, paths: &[&str]) -> Node<'a> {
        let found = paths.iter().map(|path| self.at(path)).find(Node::is_present);
        found.unwrap_or_else(|| self.at(paths.first().copied().unwrap_or("")))
    }

    /// The text here, if it is a string.
    #[must_use]
    pub fn text(&self) -> Option<&'a str> {
        match self.value() {
            Some(Json::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The entries, if this is an array.
    #[must_use]
    pub fn items(&self) -> Vec<Node<'a>> {
        let Some(Json::Array(items)) = self.value() else { return Vec::new() };
        let entry =
            |(index, value)| Node { value: Some(value), pointer: format!("{}/{index}", self.pointer) };
        items.iter().enumerate().map(entry).collect()
    }

    /// The members by name, if this is an object.
    #[must_use]
    pub fn members(&self) -> Vec<(&'a str, Node<'a>)> {
        let Some(Json::Object(members)) = self.value() else { return Vec::new() };
        members.keys().map(|name| (name.as_str(), self.member(name))).collect()
    }
}
